"""
What must become of a gradient?
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.invariants.of_heaps import Fault, became_false
from swapmodel.invariants.of_modules import registrations
from swapmodel.invariants.probes import backward_from, gradient, probe
from swapmodel.invariants.violation import Step, Violation, placed, remembered
from swapmodel.outcomes import Done
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.state.heap import Heap

KEEPS_IDENTITY = ("data", "swap")
"""The paths that promise that a gradient stays the same object."""


def gradient_kept(step: Step) -> Iterator[Violation]:
    """
    A gradient before a conversion is a gradient after it.

    And the same object, on a path that keeps the parameter's identity.
    """
    for (place, kind, t), now in registrations(step):
        was = step.before.grad_of(t)
        if kind != "parameter" or was is None:
            continue
        there, path = step.then.grad_of(now), step.path(place)
        told = ""
        if there is None:
            told = "no gradient"
        elif path in KEEPS_IDENTITY and there != was:
            told = "another object"
        # [invariant/gradient-kept]
        if told:
            where = f"{place}.grad"
            promised = "the gradient that was there"
            yield Violation("gradient-kept", where, "gradient", path, promised, told)


def gradient_fit(step: Step) -> Iterator[Violation]:
    """
    A gradient has the dtype, device and size of its tensor.

    And what a backward accumulates into it is right, which a probe asks.
    """
    # [invariant/gradient-fit]
    yield from became_false("gradient-fit", misfits, step)
    yield from _wrongly_accumulated(step)


@remembered
def misfits(heap: Heap) -> tuple[Fault, ...]:
    """Where a gradient does not fit its tensor."""
    return tuple(_misfits(heap))


def _misfits(heap: Heap) -> Iterator[Fault]:
    for place, _, t in placed(heap):
        grad = heap.grad_of(t)
        if grad is None:
            continue
        one, other = heap.impl_of(t), heap.impl_of(grad)
        for field in ("dtype", "device", "length"):
            has, had = getattr(one, field), getattr(other, field)
            if has != had:
                where = f"{place}.grad"
                yield (
                    where,
                    f"{field} of {where} is that of {place}",
                    f"{had}, not {has}",
                )


def _wrongly_accumulated(step: Step) -> Iterator[Violation]:
    if not isinstance(step.outcome, Done):
        return
    for (place, kind, t), now in registrations(step):
        if kind != "parameter" or step.before.grad_of(t) is None:
            continue
        if not (requires_grad(step.before, t) and requires_grad(step.then, now)):
            continue
        program = backward_from(place)
        was, then = (probe(one, program, step.spec) for one in (step.before, step.then))
        if not was.done or then.heap is None or step.then.grad_of(now) is None:
            continue
        assert was.heap is not None
        promised, there = gradient(was.heap, t), gradient(then.heap, now)
        if not then.done or there != promised:
            told = f"{there}" if then.done else "the backward is refused"
            yield Violation(
                "gradient-fit",
                f"{place}.grad",
                "gradient",
                step.path(place),
                f"a further backward makes it {promised}",
                told,
                program,
            )
