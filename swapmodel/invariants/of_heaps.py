"""
Which claims does one heap alone answer?

Each is reported on the step after which it is false and before which it was true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from swapmodel.invariants.violation import Step, Violation, placed, remembered
from swapmodel.outcomes import Stop
from swapmodel.semantics import payloads
from swapmodel.semantics.payloads import Payload, Wrapped
from swapmodel.state.classes import tensor_class
from swapmodel.state.heap import Heap, living
from swapmodel.state.ids import TensorId

Fault = tuple[str, str, str]
"""A place, what the claim promises there, and what is there instead."""


def became_false(
    invariant: str, faults: Callable[[Heap], tuple[Fault, ...]], step: Step
) -> Iterator[Violation]:
    """Yield the faults of the heap after a step that the heap before had not."""
    found = faults(step.then)
    if not found:
        return
    known = {(place, was) for place, was, _ in faults(step.before)}
    kinds = {place: kind for place, kind, _ in placed(step.then)}
    for place, was, now in found:
        if (place, was) not in known:
            kind = kinds.get(place, "variable")
            yield Violation(invariant, place, kind, step.path(place), was, now)


def content(heap: Heap, t: TensorId) -> Payload | None:
    """What a tensor holds, or `None` where reading it is refused or undefined."""
    payload = payloads.read(heap, t)
    return None if isinstance(payload, Stop) else payload


def told(payload: Payload | None) -> str:
    """A payload in a few words."""
    if payload is None:
        return "unreadable"
    if isinstance(payload, Wrapped):
        return ", ".join(f"{name}: {told(one)}" for name, one in payload.inner)
    values = "undefined" if payload.values is None else list(payload.values)
    return f"{payload.dtype} {values}"


# -- Coherence -----------------------------------------------------------------------


def coherence(step: Step) -> Iterator[Violation]:
    """
    A wrapper's own dtype, device and size are those of its inner tensors.

    And its class is one that handles what is intercepted for it.
    """
    # [invariant/coherence]
    yield from became_false("coherence", incoherent, step)


@remembered
def incoherent(heap: Heap) -> tuple[Fault, ...]:
    """Where a wrapper and its inner tensors disagree, or class and impl."""
    intercepted = any(impl.python_key for _, impl in living(heap.impls))
    handled = any(tensor_class(one.cls).inner for _, one in living(heap.tensors))
    return tuple(_incoherent(heap)) if intercepted or handled else ()


def _incoherent(heap: Heap) -> Iterator[Fault]:
    for place, _, t in placed(heap):
        tensor, impl = heap.tensor(t), heap.impl_of(t)
        named = tensor_class(tensor.cls).inner
        if bool(named) != impl.python_key:
            kind = "a wrapper's impl" if impl.python_key else "a plain impl"
            yield place, "class and impl fit", f"{tensor.cls} over {kind}"
        for name, one in tensor.inner:
            inner = heap.impl_of(one)
            for field in ("dtype", "device", "length"):
                outer_has, inner_has = getattr(impl, field), getattr(inner, field)
                if outer_has != inner_has:
                    was = f"{field} of {place}.{name} is that of {place}"
                    yield place, was, f"{outer_has} outside, {inner_has} inside"
