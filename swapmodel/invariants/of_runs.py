"""
Which claims need what would come of it: hooks that fire, graphs that run?
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.actions import Backward, Convert, SwapTensors
from swapmodel.invariants.of_steps import CONTENT
from swapmodel.invariants.probes import (
    Probed,
    backward_from,
    gradient,
    probe,
)
from swapmodel.invariants.violation import Step, Violation
from swapmodel.outcomes import Refused
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.semantics.places import PlaceKind
from swapmodel.state.events import Fired
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId

# -- Hooks ---------------------------------------------------------------------------


def hooks(step: Step) -> Iterator[Violation]:
    """
    A registered hook still fires, and what is listed is what fires.

    Asked by a probe: a forward and a backward through the tensor.
    """
    if not (isinstance(step.action, CONTENT) and any(step.before.hooks)):
        return
    for place, kind, t in step.placed_before:
        now = step.placed_then.get(place)
        if now is None or kind == "gradient":
            continue
        if not (_listed(step.before, t) or _listed(step.then, now)):
            continue
        yield from _dead_hooks(step, place, kind, t, now)


def _dead_hooks(
    step: Step, place: str, kind: PlaceKind, t: TensorId, now: TensorId
) -> Iterator[Violation]:
    if not (requires_grad(step.before, t) and requires_grad(step.then, now)):
        return
    program = backward_from(place)
    fired = _fired(probe(step.before, program, step.spec))
    then = probe(step.then, program, step.spec)
    if fired != _listed(step.before, t) or not then.done:
        return
    if isinstance(step.action, Convert):
        promised, said = fired, "hooks registered before fire"
    else:
        promised, said = _listed(step.then, now), "hooks that are listed fire"
    # [invariant/hooks]
    if _fired(then) != promised:
        yield Violation(
            "hooks",
            place,
            kind,
            step.path(place),
            f"{said}: {', '.join(promised) or 'none'}",
            f"listed: {', '.join(_listed(step.then, now)) or 'none'}; "
            f"fired: {', '.join(_fired(then)) or 'none'}",
            program,
        )


def _listed(heap: Heap, t: TensorId) -> tuple[str, ...]:
    listed = heap.tensor(t).backward_hooks
    return () if listed is None else heap.hooks_at(listed).entries


def _fired(probed: Probed) -> tuple[str, ...]:
    fired = (one for one in probed.events if isinstance(one, Fired))
    return tuple(one.hook for one in fired if one.kind == "tensor")


# -- Graphs --------------------------------------------------------------------------


def graph(step: Step) -> Iterator[Violation]:
    """
    A pending backward gives the right gradient or is refused.

    And it is not refused because of an operation that was refused itself.  Asked by
    a probe: the backward of every live output.
    """
    if not isinstance(step.action, CONTENT):
        return
    for place, kind, t in step.placed_before:
        pending = step.before.meta_of(t).grad_fn is not None
        if kind == "variable" and pending and step.placed_then.get(place) == t:
            yield from _broken_graph(step, place)


def _broken_graph(step: Step, place: str) -> Iterator[Violation]:
    program = (Backward(place),)
    was = probe(step.before, program, step.spec)
    if not was.done:
        return
    now = probe(step.then, program, step.spec)
    # [invariant/graph]
    if isinstance(now.outcome, Refused) and isinstance(step.outcome, Refused):
        about, kind = _leaf(step, was)
        yield Violation(
            "graph",
            about,
            kind,
            step.path(about),
            f"{place}.backward() runs, as the operation was refused",
            f"refused by {now.outcome.rule}",
            program,
        )
    if now.done and not isinstance(step.action, SwapTensors):
        yield from _wrong_gradients(step, was, now, place)


def _leaf(step: Step, was: Probed) -> tuple[str, PlaceKind]:
    """The place of the first tensor whose gradient the backward changes."""
    assert was.heap is not None
    for place, kind, t in step.placed_before:
        if gradient(step.before, t) != gradient(was.heap, t):
            return place, kind
    return "", "variable"


def _wrong_gradients(
    step: Step, was: Probed, now: Probed, place: str
) -> Iterator[Violation]:
    assert was.heap is not None
    assert now.heap is not None
    for about, kind, t in step.placed_before:
        if now.heap.tensors[t] is None or gradient(step.before, t) == gradient(
            was.heap, t
        ):
            continue
        promised, there = gradient(was.heap, t), gradient(now.heap, t)
        if there != promised:
            yield Violation(
                "graph",
                about,
                kind,
                step.path(about),
                f"{place}.backward() gives {about} the gradient {promised}",
                f"{there}",
                (Backward(place),),
            )
