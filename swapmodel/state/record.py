"""
What is a record, and how is it copied for writing and frozen again?

Every kind of thing in a heap is declared once, with `@record`.  The frozen class
and its draft twin are made from that one list of fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, TypeVar, cast, dataclass_transform

import attrs

R = TypeVar("R")

_TWINS: dict[type, type] = {}
_FROZEN: dict[type, type] = {}
_READERS: dict[type, Callable[[Any], tuple[Any, ...]]] = {}


@dataclass_transform(kw_only_default=True)
def record(cls: type[R]) -> type[R]:
    """
    Declare *cls* as a kind of thing in a heap, frozen, and make its draft twin.

    Type checkers see one class with plain fields, because semantics write drafts;
    writing a frozen record raises `attrs.exceptions.FrozenInstanceError`.
    """
    frozen = attrs.frozen(cls, weakref_slot=False)
    names = field_names(frozen)
    fields = {one.name: attrs.field(default=one.default) for one in _fields(frozen)}
    twin = attrs.make_class(
        f"{cls.__name__}Draft", fields, slots=True, weakref_slot=False, eq=False
    )
    _TWINS[frozen] = twin
    _FROZEN[twin] = frozen
    _READERS[frozen] = _READERS[twin] = _reader(names)
    return frozen


def _reader(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    only = attrgetter(names[0])
    return lambda one: (only(one),)


def writable(kind: type[R]) -> type[R]:
    """The class of the writable twins of a record, made with the same arguments."""
    return cast("type[R]", _TWINS[kind])


def thaw(one: R) -> R:
    """Copy a frozen record into its writable twin."""
    kind = type(one)
    return cast("R", _TWINS[kind](*_READERS[kind](one)))


def freeze(one: R) -> R:
    """Copy a writable twin into a frozen record; anything else is frozen already."""
    kind = type(one)
    if kind not in _FROZEN:
        return one
    copy = kind(*_READERS[kind](one))
    seal_all([copy])
    return copy


def seal_all(records: Iterable[Any]) -> None:
    """
    Turn every writable twin into the frozen record that it is a twin of.

    Both have the same fields in the same slots, so that only the class changes.
    """
    for one in records:
        frozen = _FROZEN.get(type(one))
        if frozen is not None:
            one.__class__ = frozen


def field_names(kind: Any) -> tuple[str, ...]:
    """The fields of a record class, in the order in which it declares them."""
    return tuple(one.name for one in _fields(kind))


def _fields(kind: Any) -> tuple[attrs.Attribute[Any], ...]:
    return tuple(attrs.fields(kind))
