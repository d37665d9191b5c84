"""
What does a scenario expect of a heap, and what is there?
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches

from swapmodel.outcomes import Stop
from swapmodel.semantics import ownership, places
from swapmodel.semantics.payloads import Payload, Wrapped, read
from swapmodel.semantics.tensors import is_buffer, is_parameter
from swapmodel.specfiles.schema import Table, checked_place, nearest
from swapmodel.state.events import Event, Fired
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId, WeakrefId

ABSENT = "absent"
FIRED = "fired"


def _values(heap: Heap, t: TensorId) -> object:
    payload = read(heap, t)
    if isinstance(payload, Stop):
        return "unreadable"
    return _told(payload)


def _told(payload: Payload) -> object:
    if isinstance(payload, Wrapped):
        return {name: _told(one) for name, one in payload.inner}
    return "undefined" if payload.values is None else list(payload.values)


def _requires_grad(heap: Heap, t: TensorId) -> bool:
    meta = heap.meta_of(t)
    return meta.requires_grad or meta.grad_fn is not None


def _hooks(heap: Heap, t: TensorId) -> list[str]:
    listed = heap.tensor(t).backward_hooks
    return [] if listed is None else list(heap.hooks_at(listed).entries)


PROPERTIES: Mapping[str, Callable[[Heap, TensorId], object]] = {
    "class": lambda heap, t: heap.tensor(t).cls,
    "is_parameter": is_parameter,
    "is_buffer": is_buffer,
    "attributes": lambda heap, t: dict(heap.tensor(t).attributes),
    "slots": lambda heap, t: dict(heap.tensor(t).slots),
    "dtype": lambda heap, t: heap.impl_of(t).dtype,
    "device": lambda heap, t: heap.impl_of(t).device,
    "length": lambda heap, t: heap.impl_of(t).length,
    "values": _values,
    "version": lambda heap, t: heap.version(heap.impl_of(t).counter),
    "requires_grad": _requires_grad,
    "is_leaf": lambda heap, t: heap.meta_of(t).grad_fn is None,
    "use_count": lambda heap, t: len([*ownership.owners(heap, heap.tensor(t).impl)]),
    "hooks": _hooks,
}
"""What can be said of a tensor, by the last part of a key."""


def seen(heap: Heap, events: Iterable[Event], key: str) -> object:
    """
    What stands under a key of `[then]`.

    For a place alone it is `absent`, `present`, or what a weak reference yields.
    """
    if key == FIRED:
        return [one.hook for one in events if isinstance(one, Fired)]
    place, _, last = key.rpartition(".")
    if last in PROPERTIES and place:
        found = places.resolve(heap, place)
        if found is None or found[0] != "tensor":
            return ABSENT
        return PROPERTIES[last](heap, TensorId(found[1]))
    found = places.resolve(heap, key)
    if found is None:
        return ABSENT
    if found[0] == "weakref":
        ref = heap.weakref(WeakrefId(found[1]))
        return "dead" if ref.tensor is None and ref.impl is None else "alive"
    return "present"


def agrees(heap: Heap, events: Iterable[Event], key: str, expected: object) -> bool:
    """Whether a key holds what is expected; a place may be expected to be another."""
    if seen(heap, events, key) == expected:
        return True
    if not isinstance(expected, str) or key == FIRED:
        return False
    here = _object(heap, key)
    return here is not None and here == _object(heap, expected)


def _object(heap: Heap, place: str) -> tuple[str, int] | None:
    found = places.resolve(heap, place)
    if found is None or found[0] != "weakref":
        return found
    ref = heap.weakref(WeakrefId(found[1]))
    return None if ref.tensor is None else ("tensor", ref.tensor)


def expectations(table: Table) -> tuple[tuple[str, object], ...]:
    """Read `[then]`: places or their properties, with what is expected there."""
    for key in table.rows:
        place, _, last = key.rpartition(".")
        is_property = bool(place) and last in PROPERTIES
        checked_place(place if is_property else key, table.where.key(key))
        close = get_close_matches(last, PROPERTIES, 1, 0.8)
        if place and close and not is_property:
            instead = nearest(last, PROPERTIES)
            raise table.bad(key, f"unknown property {last!r}", instead)
    return tuple(table.rows.items())
