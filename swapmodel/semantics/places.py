"""
What stands at a place, and at which places does a thing stand?
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from swapmodel.state.heap import Columns
from swapmodel.state.ids import Kind, ModuleId, TensorId

Found = tuple[Kind, int]


@lru_cache(maxsize=4096)
def segments(place: str) -> tuple[str, ...]:
    """The variable and the attributes that a place goes through."""
    return tuple(place.split("."))


def resolve(state: Columns, place: str) -> Found | None:
    """What stands at a place, or `None` where Python would raise."""
    first, *rest = segments(place)
    for name, kind, position in state.names:
        if name == first:
            found: Found | None = (kind, position)
            break
    else:
        return None
    for attribute in rest:
        if found is None:
            return None
        found = _attribute(state, *found, attribute)
    return found


def _attribute(state: Columns, kind: Kind, position: int, name: str) -> Found | None:
    if kind == "module":
        module = state.module(ModuleId(position))
        for one, t in (*module.parameters, *module.buffers):
            if one == name:
                return None if t is None else ("tensor", t)
        for one, child in module.children:
            if one == name:
                return ("module", child)
    if kind == "tensor":
        if name == "grad":
            grad = state.grad_of(TensorId(position))
            return None if grad is None else ("tensor", grad)
        for one, inner in state.tensor(TensorId(position)).inner:
            if one == name:
                return ("tensor", inner)
    return None


def places(state: Columns) -> Iterator[tuple[str, TensorId]]:
    """
    Yield every place at which a tensor stands, once per registration.

    Variables come in order of name, what they lead to behind them; a tensor that
    stands at several places is followed from the first one only.
    """
    seen: set[TensorId] = set()
    for name, kind, position in state.names:
        if kind == "module":
            yield from _places_in_module(state, name, ModuleId(position), seen)
        elif kind == "tensor":
            yield from _places_from_tensor(state, name, TensorId(position), seen)


def _places_in_module(
    state: Columns, place: str, m: ModuleId, seen: set[TensorId]
) -> Iterator[tuple[str, TensorId]]:
    module = state.module(m)
    for name, t in (*module.parameters, *module.buffers):
        if t is not None:
            yield from _places_from_tensor(state, f"{place}.{name}", t, seen)
    for name, child in module.children:
        yield from _places_in_module(state, f"{place}.{name}", child, seen)


def _places_from_tensor(
    state: Columns, place: str, t: TensorId, seen: set[TensorId]
) -> Iterator[tuple[str, TensorId]]:
    yield place, t
    if t in seen:
        return
    seen.add(t)
    for name, inner in state.tensor(t).inner:
        yield from _places_from_tensor(state, f"{place}.{name}", inner, seen)
    grad = state.grad_of(t)
    if grad is not None:
        yield from _places_from_tensor(state, f"{place}.grad", grad, seen)
