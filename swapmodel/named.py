"""
How does an action name what it is about, and what may stand in its fields?
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from swapmodel.state.classes import CLASSES

Place: TypeAlias = Annotated[str, "tensor"]
"""A variable (`w`) or a path from one (`m.weight`, `m.weight.grad`, `w.a`)."""

ModulePlace: TypeAlias = Annotated[str, "module"]
"""A place where a module must stand when the action runs."""

OptimizerPlace: TypeAlias = Annotated[str, "optimizer"]
"""A variable that holds an optimizer."""

Name: TypeAlias = str
"""A variable that an action assigns, or a label."""

NAMES: Mapping[str, tuple[str, ...]] = {"cls": tuple(CLASSES)}
"""What may stand in a field, by its name, where that is more than its type."""


class Checked:
    """
    A record that refuses, when it is made, what its fields are not declared to hold.

    So that nobody who runs it has to ask; `TypeError` for another type, `ValueError`
    for a value that is none of those that there are.
    """

    __slots__ = ()

    def __attrs_post_init__(self) -> None:
        kind: Any = type(self)
        for name, kinds, allowed in _fields(kind):
            value = getattr(self, name)
            if type(value) not in kinds:
                wanted = " or ".join(one.__name__ for one in kinds)
                raise TypeError(f"{_told(self, name, value)} is no {wanted}")
            if allowed and value not in allowed:
                wanted = ", ".join(map(repr, allowed))
                raise ValueError(f"{_told(self, name, value)} is none of {wanted}")


def _told(record: object, name: str, value: object) -> str:
    return f"{type(record).__name__}.{name} = {value!r}"


@cache
def _fields(
    kind: type,
) -> tuple[tuple[str, tuple[type, ...], tuple[object, ...]], ...]:
    """Each field with the types and, if they are listed, the values that it holds."""
    hints = get_type_hints(kind)
    return tuple((name, *_holds(name, hint)) for name, hint in hints.items())


def _holds(name: str, hint: Any) -> tuple[tuple[type, ...], tuple[object, ...]]:
    if get_origin(hint) is Literal:
        return (str,), get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return get_args(hint), ()
    return (hint,), NAMES.get(name, ())
