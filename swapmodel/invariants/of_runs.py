"""
Which claims need what would come of it: hooks that fire, graphs that run?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

from swapmodel.actions import Backward, OptimizerStep, SwapTensors
from swapmodel.invariants.of_gradients import differ
from swapmodel.invariants.of_modules import registrations
from swapmodel.invariants.of_steps import CONTENT
from swapmodel.invariants.probes import (
    Probed,
    backward_from,
    gradient,
    probe,
)
from swapmodel.invariants.violation import Step, Violation
from swapmodel.outcomes import Done, Refused
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
        if now is not None and kind != "gradient" and requires_grad(step.then, now):
            yield from _dead_hooks(step, place, kind, t, now)


def _dead_hooks(
    step: Step, place: str, kind: PlaceKind, t: TensorId, now: TensorId
) -> Iterator[Violation]:
    program = backward_from(place)
    was = probe(step.before, program, step.spec)
    then = probe(step.then, program, step.spec)
    if not then.done or (requires_grad(step.before, t) and not was.done):
        return
    fired, there = _fired(was), _fired(then)
    promised, said = fired, "hooks registered before fire"
    if isinstance(step.action, SwapTensors):
        promised, said = _listed(step.then, now), "hooks that are listed fire"
        there -= _on_nodes(then)
        if fired - _on_nodes(was) != _listed(step.before, t):
            return
    # [invariant/hooks]
    if there != promised:
        yield Violation(
            "hooks",
            place,
            kind,
            step.path(place),
            f"{said}: {_labels(promised)}",
            f"listed: {_labels(_listed(step.then, now))}; fired: {_labels(there)}",
            program,
        )


def _listed(heap: Heap, t: TensorId) -> Counter[str]:
    """The labels of the hooks that a tensor lists."""
    tensor = heap.tensor(t)
    dicts = (tensor.backward_hooks, tensor.post_accumulate_grad_hooks)
    return Counter(
        label
        for one in dicts
        if one is not None
        for label in heap.hooks_at(one).entries
    )


def _fired(probed: Probed) -> Counter[str]:
    return Counter(one.hook for one in probed.events if isinstance(one, Fired))


def _on_nodes(probed: Probed) -> Counter[str]:
    """Those that were registered on a node, which no tensor lists."""
    fired = (one for one in probed.events if isinstance(one, Fired))
    return Counter(one.hook for one in fired if one.kind == "node")


def _labels(found: Counter[str]) -> str:
    return ", ".join(sorted(found.elements())) or "none"


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
        if differ(promised, there):
            yield Violation(
                "graph",
                about,
                kind,
                step.path(about),
                f"{place}.backward() gives {about} the gradient {promised}",
                f"{there}",
                (Backward(place),),
            )


# -- Training ------------------------------------------------------------------------


def training_kept(step: Step) -> Iterator[Violation]:
    """
    A step after a conversion changes the parameters that it changed before.

    Asked by a probe: a forward, a backward and the step of each optimizer.
    """
    if not isinstance(step.outcome, Done):
        return
    held = [name for name, kind, _ in step.before.names if kind == "optimizer"]
    for name, one in product(held, registrations(step) if held else ()):
        (place, kind, t), now = one
        program = (*backward_from(place), OptimizerStep(name))
        was = probe(step.before, program, step.spec)
        if not (requires_grad(step.before, t) and _is_written(step.before, was, t)):
            continue
        then = probe(step.then, program, step.spec)
        told = ""
        if isinstance(then.outcome, Refused):
            told = f"refused by {then.outcome.rule}"
        elif then.done and not _is_written(step.then, then, now):
            told = "it changes something else"
        # [invariant/training-kept]
        if told:
            promised, path = f"{name}.step() changes {place}", step.path(place)
            yield Violation("training-kept", place, kind, path, promised, told, program)


def _is_written(heap: Heap, probed: Probed, t: TensorId) -> bool:
    """Whether a probe that ran to its end has written a tensor."""
    if not probed.done:
        return False
    assert probed.heap is not None
    counter = heap.impl_of(t).counter
    return probed.heap.version(counter) != heap.version(counter)
