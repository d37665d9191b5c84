"""
In what order is a world walked, be it a heap or real torch?

Both are read through one `Reader`, so that a place has one name and one number.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Protocol

from attrs import Factory, define


class Reader(Protocol):
    """What a walk asks of a world; what it hands around is opaque to the walk."""

    def variables(self) -> Iterable[tuple[str, str, Any]]:
        """Every variable in order of name: its name, its kind, what it holds."""
        ...

    def registered(self, module: Any) -> Iterable[tuple[str, Any]]:
        """What a module or an optimizer lists, parameters first, by name."""
        ...

    def children(self, module: Any) -> Iterable[tuple[str, Any]]:
        """A module's children, by name."""
        ...

    def key(self, thing: Any) -> Hashable:
        """What is equal for the same tensor, node or module, and for no other."""
        ...

    def leads(self, t: Any) -> Iterable[tuple[str, Any]]:
        """The tensors that a tensor leads to: inner ones, `grad`, `_base`."""
        ...

    def grad_fn(self, t: Any) -> Any | None:
        """The node of a tensor that is no leaf."""
        ...

    def node(self, n: Any) -> tuple[str, Any | None, Iterable[Any]]:
        """A node's name, the tensor of an `AccumulateGrad`, and the nodes behind."""
        ...


@define
class Survey:
    """Every tensor and every node that Python can reach, in the order of the walk."""

    places: list[tuple[str, Any]] = Factory(list)
    """Each place with the tensor there; one that was seen before leads nowhere."""

    first: dict[Hashable, int] = Factory(dict)
    """The number of the first place at which a tensor stands, by its key."""

    modules: list[tuple[str, Any]] = Factory(list)
    """Each place with the module there; one that was seen before leads nowhere."""

    first_module: dict[Hashable, int] = Factory(dict)
    """The number of the first place at which a module stands, by its key."""

    numbers: dict[Hashable, int] = Factory(dict)
    """The number of a node, by its key."""

    nodes: list[tuple[str, int, tuple[int, ...]]] = Factory(list)
    """Each node's name, the place of its variable or -1, the nodes behind it."""

    kept: list[Any] = Factory(list)
    """The nodes themselves, so that no other takes a key meanwhile."""


def survey(reader: Reader) -> Survey:
    """Walk a world from its variables."""
    found = Survey()
    for name, kind, thing in reader.variables():
        if kind in ("module", "optimizer"):
            _module(reader, found, name, thing)
        elif kind == "tensor":
            _tensor(reader, found, name, thing)
    return found


def _module(reader: Reader, found: Survey, place: str, module: Any) -> None:
    number = len(found.modules)
    found.modules.append((place, module))
    if found.first_module.setdefault(reader.key(module), number) != number:
        return
    for name, t in reader.registered(module):
        _tensor(reader, found, f"{place}.{name}", t)
    for name, child in reader.children(module):
        _module(reader, found, f"{place}.{name}", child)


def _tensor(reader: Reader, found: Survey, place: str, t: Any) -> None:
    number = len(found.places)
    found.places.append((place, t))
    if found.first.setdefault(reader.key(t), number) != number:
        return
    for name, other in reader.leads(t):
        _tensor(reader, found, f"{place}.{name}", other)
    node = reader.grad_fn(t)
    if node is not None:
        _node(reader, found, node)


def _node(reader: Reader, found: Survey, n: Any) -> int:
    key = reader.key(n)
    known = found.numbers.get(key)
    if known is not None:
        return known
    number = found.numbers[key] = len(found.nodes)
    found.kept.append(n)
    found.nodes.append(("", -1, ()))
    name, variable, behind = reader.node(n)
    place = -1
    if variable is not None:
        _tensor(reader, found, f"node{number}.variable", variable)
        place = found.first[reader.key(variable)]
    edges = tuple([_node(reader, found, one) for one in behind])
    found.nodes[number] = (name, place, edges)
    return number
