"""
How is one record of a heap written down, and which positions does it hold?

Read off the types of its fields, once per class, so that no field is forgotten.
What a field holds by default is left out, behind a mask of the fields that differ.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, NewType, TypeAlias, Union, get_args, get_origin, get_type_hints

import attrs

from swapmodel.state.classes import CLASSES
from swapmodel.state.heap import COLUMNS
from swapmodel.state.ids import (
    CounterId,
    HooksId,
    ImplId,
    ModuleId,
    NodeId,
    OptimizerId,
    StorageId,
    TensorId,
    WeakrefId,
)
from swapmodel.state.keepers import KEEPERS

Address: TypeAlias = int
"""A kind of thing and its position in one number; see `address`."""

Shape: TypeAlias = Callable[[Any, list[int], list[Address]], None]
"""Writes a value into a list of small numbers, and its positions into another."""

POSITIONS: dict[Any, tuple[str, ...]] = {
    TensorId: ("tensors",),
    ImplId: ("impls", "metas"),
    StorageId: ("storages",),
    CounterId: ("counters",),
    NodeId: ("nodes",),
    HooksId: ("hooks",),
    WeakrefId: ("weakrefs",),
    ModuleId: ("modules",),
    OptimizerId: ("optimizers",),
}
"""The columns in which a position of each kind is looked up."""

KINDS: tuple[Any, ...] = tuple(POSITIONS)

RECORDED_VERSIONS = frozenset(
    {("SavedVariable", "version"), ("AutogradMeta", "view_version")}
)
"""Fields that `canonical` compares with a version counter instead of writing them."""

KIND_BITS = 4
"""How many bits of an address say which kind of thing it is of."""

_KNOWN = (
    *("float32", "float64", "float16", "bfloat16", "cpu", "meta", "cuda"),
    *CLASSES,
    *KEEPERS,
)
_NUMBERS, _TUPLES, _TEXTS, _WORDS = 8, 48, 64, 128
"""Where the codes of small numbers, short tuples, short texts and known words start."""

assert len(KINDS) <= 1 << KIND_BITS
assert set(COLUMNS) == {column for row in POSITIONS.values() for column in row}


def address(kind: int, position: int) -> Address:
    """One number for a position of the kind with this index in `KINDS`."""
    return position << KIND_BITS | kind


# -- Plain values ------------------------------------------------------------------


def small(number: int, out: list[int]) -> None:
    """Write a number from zero, seven bits at a time."""
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def plain(value: object, out: list[int], _: list[Address]) -> None:
    """
    Write a value that holds no positions, so that its end can be told.

    The first number says what it is: absent, negative, a number, text or tuple that
    is not small, one that is, or a word that heaps often use.
    """
    if value is None:
        out.append(0)
    elif isinstance(value, int):
        _number(int(value), out)
    elif isinstance(value, str):
        _text(value, out)
    else:
        assert isinstance(value, tuple), f"{value!r} has no place in a key"
        _head(_TUPLES, _TEXTS, 4, len(value), out)
        for one in value:
            plain(one, out, _)


def _number(value: int, out: list[int]) -> None:
    if value < 0:
        out.append(1)
        small(-value, out)
    else:
        _head(_NUMBERS, _TUPLES, 2, value, out)


def _text(value: str, out: list[int]) -> None:
    if value in _KNOWN:
        out.append(_WORDS + _KNOWN.index(value))
        return
    encoded = value.encode()
    _head(_TEXTS, _WORDS, 3, len(encoded), out)
    out += encoded


def _head(first: int, end: int, otherwise: int, size: int, out: list[int]) -> None:
    """Write a size in one code from *first* on, or behind the code for large ones."""
    if first + size < end:
        out.append(first + size)
    else:
        out.append(otherwise)
        small(size, out)


# -- From a type to its shape --------------------------------------------------------


def shape_of(hint: Any) -> Shape:
    """How a value of this type is written; for most types, plainly."""
    if isinstance(hint, NewType) and hint in POSITIONS:
        return _position(KINDS.index(hint))
    if attrs.has(hint):
        return record_shape(hint)
    inner = [one for one in get_args(hint) if one not in (NoneType, Ellipsis)]
    shapes = [shape_of(one) for one in inner]
    if all(one is plain for one in shapes):
        return plain
    if get_origin(hint) in (Union, UnionType):
        assert len(shapes) == 1, f"{hint} holds positions of more than one kind"
        return _optional(shapes[0])
    assert get_origin(hint) is tuple, f"{hint} has no place in a record"
    return _each(shapes[0]) if Ellipsis in get_args(hint) else _fixed(shapes)


def _position(kind: int) -> Shape:
    def write(value: int, out: list[int], found: list[Address]) -> None:
        found.append(address(kind, value))

    return write


def _optional(inner: Shape) -> Shape:
    def write(value: object, out: list[int], found: list[Address]) -> None:
        out.append(value is not None)
        if value is not None:
            inner(value, out, found)

    return write


def _each(inner: Shape) -> Shape:
    def write(values: tuple[Any, ...], out: list[int], found: list[Address]) -> None:
        small(len(values), out)
        for value in values:
            inner(value, out, found)

    return write


def _fixed(inner: list[Shape]) -> Shape:
    def write(values: tuple[Any, ...], out: list[int], found: list[Address]) -> None:
        for shape, value in zip(inner, values, strict=True):
            shape(value, out, found)

    return write


def record_shape(kind: type) -> Shape:
    """How a record is written: a mask, and the fields that are not as by default."""
    hints = get_type_hints(kind)
    fields = [
        (field.name, field.default, shape_of(hints[field.name]))
        for field in attrs.fields(kind)
        if (kind.__name__, field.name) not in RECORDED_VERSIONS
    ]

    def write(one: object, out: list[int], found: list[Address]) -> None:
        values = [getattr(one, name) for name, _, _ in fields]
        differ = [
            default is attrs.NOTHING or value != default
            for value, (_, default, _) in zip(values, fields, strict=True)
        ]
        small(sum(bit << n for n, bit in enumerate(differ)), out)
        for value, bit, (_, _, shape) in zip(values, differ, fields, strict=True):
            if bit:
                shape(value, out, found)

    return write
