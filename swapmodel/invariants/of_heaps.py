"""
Which claims does one heap alone answer?

Each is reported on the step after which it is false and before which it was true.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from swapmodel.invariants.violation import Step, Violation, placed, remembered
from swapmodel.outcomes import Stop
from swapmodel.semantics import payloads
from swapmodel.semantics.payloads import Payload, Wrapped
from swapmodel.semantics.places import PlaceKind
from swapmodel.state.classes import tensor_class
from swapmodel.state.heap import Heap, living
from swapmodel.state.ids import ImplId, TensorId


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

    And its class is one that handles what is intercepted for it.  What disagreed
    before is no new fault where it is seen under another name, nor in what is made of
    it.
    """
    found = incoherent(step.then)
    if not found:
        return
    before = incoherent(step.before)
    places = {(one.place, one.was) for one in before}
    impls = {(one.impls, one.about) for one in before}
    broken = {one.impls[0] for one in before}
    copies = any(step.before.tensor(t).impl in broken for *_, t in step.operands())
    for one in found:
        if copies and one.impls[0] >= len(step.before.impls):
            continue
        # [invariant/coherence]
        if (one.place, one.was) not in places and (one.impls, one.about) not in impls:
            path = step.path(one.place)
            yield Violation("coherence", one.place, one.kind, path, one.was, one.now)


@frozen
class Incoherence:
    """A disagreement between two halves of a tensor."""

    place: str
    kind: PlaceKind
    impls: tuple[ImplId, ...]
    about: str
    was: str
    now: str


@remembered
def incoherent(heap: Heap) -> tuple[Incoherence, ...]:
    """Where a wrapper and its inner tensors disagree, or class and impl."""
    intercepted = any(impl.python_key for _, impl in living(heap.impls))
    handled = any(tensor_class(one.cls).inner for _, one in living(heap.tensors))
    return tuple(_incoherent(heap)) if intercepted or handled else ()


def _incoherent(heap: Heap) -> Iterator[Incoherence]:
    for place, placed_as, t in placed(heap):
        tensor, impl = heap.tensor(t), heap.impl_of(t)
        if bool(tensor_class(tensor.cls).inner) != impl.python_key:
            over = "a wrapper's impl" if impl.python_key else "a plain impl"
            was, now = "class and impl fit", f"{tensor.cls} over {over}"
            yield Incoherence(place, placed_as, (tensor.impl,), "class", was, now)
        for name, one in tensor.inner:
            inner = heap.impl_of(one)
            for field in ("dtype", "device", "length"):
                outer_has, inner_has = getattr(impl, field), getattr(inner, field)
                if outer_has != inner_has:
                    was = f"{field} of {place}.{name} is that of {place}"
                    now = f"{outer_has} outside, {inner_has} inside"
                    both = (tensor.impl, heap.tensor(one).impl)
                    yield Incoherence(place, placed_as, both, field, was, now)
