"""
What must become of a gradient, and of those that are still to come?
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap

from swapmodel.actions import CastData, Convert, SetData, SwapTensors
from swapmodel.invariants.of_heaps import content
from swapmodel.invariants.of_modules import registrations
from swapmodel.invariants.probes import Probed, backward_from, gradient, probe
from swapmodel.invariants.violation import Step, Violation, placed, remembered
from swapmodel.outcomes import Done, Refused
from swapmodel.semantics import payloads, tensors
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.semantics.payloads import MODULUS, Values
from swapmodel.semantics.places import Placement
from swapmodel.semantics.promised import promised as promised_of
from swapmodel.state.heap import Heap
from swapmodel.state.ids import ImplId, TensorId

KEEPS_IDENTITY = ("data", "swap")
"""The paths that promise that a gradient stays the same object."""


def gradient_kept(step: Step) -> Iterator[Violation]:
    """
    A gradient before a conversion is a gradient after it.

    And the same object, on a path that keeps the identity of its tensor.
    """
    for (place, _, t), now in registrations(step):
        was = step.before.grad_of(t)
        if was is None:
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

    And a further forward and backward give the right one, which a probe asks.
    """
    before = misfits(step.before)
    known = {(one, field) for place, i, field, *_ in before for one in (place, i)}
    for place, i, field, has, had in misfits(step.then):
        # [invariant/gradient-fit]
        if not {(place, field), (i, field)} & known:
            where, told = f"{place}.grad", f"{had}, not {has}"
            promised = f"{field} of {where} is that of {place}"
            path = step.path(place)
            yield Violation("gradient-fit", where, "gradient", path, promised, told)
    if isinstance(step.outcome, Done):
        yield from _further(step)


Misfit = tuple[str, ImplId, str, object, object]
"""A place, its impl, and a field with what the tensor and what its gradient has."""


@remembered
def misfits(heap: Heap) -> tuple[Misfit, ...]:
    """Where a gradient does not fit its tensor."""
    return tuple(_misfits(heap))


def _misfits(heap: Heap) -> Iterator[Misfit]:
    for place, _, t in placed(heap):
        grad = heap.grad_of(t)
        if grad is None:
            continue
        one, other = heap.impl_of(t), heap.impl_of(grad)
        for field in ("dtype", "device", "length"):
            has, had = getattr(one, field), getattr(other, field)
            if has != had:
                yield place, heap.tensor(t).impl, field, has, had


# -- What is still to come -----------------------------------------------------------


def _further(step: Step) -> Iterator[Violation]:
    """What a further forward and backward come to, beside what they came to before."""
    for (source, _, t), (place, kind, now) in _asked(step):
        if step.then.tensors[now] is None or not (
            requires_grad(step.before, t) and requires_grad(step.then, now)
        ):
            continue
        program = backward_from(place)
        was = probe(step.before, backward_from(source), step.spec)
        then = probe(step.then, program, step.spec)
        if not was.done:
            continue
        path = step.path(place)
        if isinstance(then.outcome, Refused):
            rule = then.outcome.rule
            promised = f"a further backward through {place} is not met by {rule}"
            told = f"refused by {rule}"
            yield Violation("gradient-fit", place, kind, path, promised, told, program)
        elif then.done:
            assert then.heap is not None
            wanted, there = _promised(step, was, t), gradient(then.heap, now)
            if differ(wanted, there):
                where = f"{place}.grad"
                promised = f"a further backward makes {where} {wanted}"
                yield Violation(
                    "gradient-fit",
                    where,
                    "gradient",
                    path,
                    promised,
                    f"{there}",
                    program,
                )


def _asked(step: Step) -> Iterator[tuple[Placement, Placement]]:
    """Yield what an action gives other content, with where that was before."""
    match step.action:
        case Convert():
            for (place, kind, t), now in registrations(step):
                yield (place, kind, t), (place, kind, now)
        case SetData(place) | CastData(place):
            found = step.operand(place)
            assert found is not None
            yield found, found
        case SwapTensors(t1, t2):
            one, other = step.operand(t1), step.operand(t2)
            assert one is not None
            assert other is not None
            yield from ((one, other), (other, one))


Gradient = tuple[Values, ...]


def _promised(step: Step, was: Probed, t: TensorId) -> Gradient | None:
    """The gradient that there would be, if what was there is converted once."""
    assert was.heap is not None
    old, sum_of_both = gradient(step.before, t), gradient(was.heap, t)
    grad = step.before.grad_of(t)
    if grad is None or old is None or sum_of_both is None:
        return sum_of_both
    if not isinstance(step.action, Convert):
        return sum_of_both
    payload = content(step.before, grad)
    parameter = tensors.is_parameter(step.before, grad)
    assert payload is not None, "a backward that ran has read the gradient"
    promised = promised_of(step.action.fn, payload, parameter=parameter)
    if promised is None:
        return None
    new = payloads.leaves(promised)
    if len(new) != len(old):
        return None
    return tuple(starmap(_moved, zip(old, sum_of_both, new, strict=True)))


def _moved(old: Values, both: Values, new: Values) -> Values:
    """What was added to the old values, added to the new ones."""
    if old is None or both is None or new is None or len(old) != len(new):
        return None
    added = zip(old, both, new, strict=True)
    return tuple((a + b - c) % MODULUS for c, b, a in added)


def differ(wanted: Gradient | None, there: Gradient | None) -> bool:
    """Whether a gradient is another one, as far as anybody can say of both."""
    if wanted is None:
        return False
    if there is None or len(there) != len(wanted):
        return True
    return any(
        None not in (one, other) and one != other
        for one, other in zip(wanted, there, strict=True)
    )
