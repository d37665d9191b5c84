"""
What stands at a place, and at which places does a thing stand?
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from swapmodel.state.heap import Columns
from swapmodel.state.holders import held
from swapmodel.state.ids import Kind, ModuleId, OptimizerId, TensorId
from swapmodel.state.optimizers import Optimizer

Found: TypeAlias = tuple[Kind, int]


@lru_cache(maxsize=4096)
def segments(place: str) -> tuple[str, ...]:
    """The variable and the attributes that a place goes through."""
    if ".state[" not in place:
        return tuple(place.split("."))
    return tuple(re.findall(r"state\[\d+\]\[\d+\]\.\w+|[^.]+", place))


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
        for one, t in held(module):
            if one == name:
                return None if t is None else ("tensor", t)
        for one, child in module.children:
            if one == name:
                return ("module", child)
        for index, t in enumerate(module.flat_weights):
            if t is not None and name == f"_flat_weights[{index}]":
                return ("tensor", t)
    if kind == "optimizer":
        listed = dict(in_optimizer(state, OptimizerId(position)))
        return ("tensor", listed[name]) if name in listed else None
    if kind == "tensor":
        if name == "grad":
            grad = state.grad_of(TensorId(position))
            return None if grad is None else ("tensor", grad)
        for one, inner in state.tensor(TensorId(position)).inner:
            if one == name:
                return ("tensor", inner)
    return None


def in_optimizer(state: Columns, o: OptimizerId) -> Iterator[tuple[str, TensorId]]:
    """Yield the tensors of an optimizer by the path that leads from it to each."""
    optimizer = state.optimizer(o)
    keys = optimizer_keys(optimizer)
    for t, key in keys.items():
        yield f"param_groups{key}", t
    for entry in optimizer.state:
        for name, t in entry.tensors:
            yield f"state{keys[entry.parameter]}.{name}", t


def optimizer_keys(optimizer: Optimizer) -> dict[TensorId, str]:
    """Where each parameter of an optimizer stands: its group, and its number there."""
    return {
        t: f"[{number}][{index}]"
        for number, group in enumerate(optimizer.groups)
        for index, t in enumerate(group)
    }


def modules(state: Columns) -> Iterator[tuple[str, ModuleId]]:
    """Yield every module with the first place at which it stands."""
    seen: set[ModuleId] = set()
    for name, kind, position in state.names:
        if kind == "module":
            yield from _modules_from(state, name, ModuleId(position), seen)


def _modules_from(
    state: Columns, place: str, m: ModuleId, seen: set[ModuleId]
) -> Iterator[tuple[str, ModuleId]]:
    if m in seen:
        return
    seen.add(m)
    yield place, m
    for name, child in state.module(m).children:
        yield from _modules_from(state, f"{place}.{name}", child, seen)


def holds_none(state: Columns, place: str) -> bool:
    """Whether Python reads `None` at a place: no gradient, or an empty registration."""
    holder, _, name = place.rpartition(".")
    found = resolve(state, holder)
    if found is None or resolve(state, place) is not None:
        return False
    kind, position = found
    if kind == "tensor":
        return name == "grad"
    if kind == "module":
        module = state.module(ModuleId(position))
        flat = ((f"_flat_weights[{n}]", t) for n, t in enumerate(module.flat_weights))
        return (name, None) in (*held(module), *flat)
    return False


PlaceKind: TypeAlias = Literal[
    "parameter", "gradient", "buffer", "attribute", "inner", "variable", "optimizer"
]
"""What a tensor is to whoever holds it at a place."""

Placement: TypeAlias = tuple[str, PlaceKind, TensorId]


def places(state: Columns) -> Iterator[tuple[str, TensorId]]:
    """Yield every place at which a tensor stands, as `placements` does."""
    for place, _, t in placements(state):
        yield place, t


def placements(state: Columns) -> Iterator[Placement]:
    """
    Yield every place at which a tensor stands, once per registration.

    Variables come in order of name, what they lead to behind them; a tensor that
    stands at several places is followed from the first one only.  What an attribute
    hides has no place.
    """
    seen: set[TensorId] = set()
    for name, kind, position in state.names:
        if kind == "module":
            yield from _places_in_module(state, name, ModuleId(position), seen)
        elif kind == "tensor":
            t = TensorId(position)
            yield from _places_from_tensor(state, name, "variable", t, seen)
        elif kind == "optimizer":
            for path, t in in_optimizer(state, OptimizerId(position)):
                place = f"{name}.{path}"
                yield from _places_from_tensor(state, place, "optimizer", t, seen)


def _places_in_module(
    state: Columns, place: str, m: ModuleId, seen: set[TensorId]
) -> Iterator[Placement]:
    module = state.module(m)
    hiding = [name for name, _ in module.attributes]
    for name, t in module.parameters:
        if t is not None and name not in hiding:
            path = f"{place}.{name}"
            yield from _places_from_tensor(state, path, "parameter", t, seen)
    for name, t in module.buffers:
        if t is not None:
            path = f"{place}.{name}"
            yield from _places_from_tensor(state, path, "buffer", t, seen)
    for name, t in module.attributes:
        yield from _places_from_tensor(state, f"{place}.{name}", "attribute", t, seen)
    for name, child in module.children:
        yield from _places_in_module(state, f"{place}.{name}", child, seen)


def _places_from_tensor(
    state: Columns, place: str, kind: PlaceKind, t: TensorId, seen: set[TensorId]
) -> Iterator[Placement]:
    # A stack and no recursion: gradients of gradients can be longer than Python's.
    todo: list[Placement] = [(place, kind, t)]
    while todo:
        place, kind, t = found = todo.pop()
        yield found
        if t in seen:
            continue
        seen.add(t)
        grad = state.grad_of(t)
        if grad is not None:
            todo.append((f"{place}.grad", "gradient", grad))
        inside = state.tensor(t).inner
        todo += [(f"{place}.{name}", "inner", one) for name, one in reversed(inside)]
