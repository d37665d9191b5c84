"""
How is a table of a file read, and what is said when it is not as it should be?

A `Table` remembers where it stands, so that every error names file and path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from keyword import iskeyword
from typing import TypeVar

from attrs import frozen

from swapmodel.invariants.probes import OUTPUT
from swapmodel.state.classes import CLASSES
from swapmodel.state.dtypes import ALIASES, TORCH_DEVICES, TORCH_DTYPES

D = TypeVar("D")

KNOWN: Mapping[str, Iterable[str]] = {
    "class": CLASSES,
    "cls": CLASSES,
}
"""What may stand under a key, wherever the key stands."""

PLACE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*|\[\d+\])*", re.ASCII)
BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


class BadInput(Exception):
    """Something that a user wrote is not as it should be: one line says what."""

    def __init__(self, what: str, where: Where | str, instead: str) -> None:
        super().__init__(what, where, instead)
        self.what = what
        self.where = str(where)
        self.instead = instead

    def __str__(self) -> str:
        line = f"{self.what} @ {self.where}, {self.instead}"
        return " ".join(line.split())


@frozen
class Where:
    """A place in a file."""

    file: str
    path: str = ""

    def key(self, name: str) -> Where:
        """The place of a key below this one."""
        name = name if BARE.fullmatch(name) else f'"{name}"'
        return Where(self.file, f"{self.path}.{name}" if self.path else name)

    def item(self, index: int) -> Where:
        """The place of an item of the array here, counted from 0."""
        return Where(self.file, f"{self.path}[{index}]")

    def __str__(self) -> str:
        return f"{self.file}:{self.path}" if self.path else self.file


def nearest(name: str, known: Iterable[str]) -> str:
    """Name what somebody who wrote *name* may have meant."""

    def unlike(one: str) -> tuple[float, str]:
        return -SequenceMatcher(None, name.lower(), one.lower()).ratio(), one

    options = sorted({*known}, key=unlike)[:3]
    if not options:
        return "leave it out: there is none yet"
    return f"write {' or '.join(options)}"


def unknown(what: str, name: str, known: Iterable[str], where: Where | str) -> BadInput:
    """The error for a name that nothing is registered under."""
    return BadInput(f"unknown {what} {name!r}", where, nearest(name, known))


# -- Tables ------------------------------------------------------------------------


@frozen
class Table:
    """A table of a file: each method reads one key as what it should be."""

    rows: Mapping[str, object]
    where: Where

    def __contains__(self, key: str) -> bool:
        return key in self.rows

    def bad(self, key: str, what: str, instead: str) -> BadInput:
        """The error for what stands under a key."""
        return BadInput(what, self.where.key(key), instead)

    def only(self, known: Iterable[str]) -> None:
        """Refuse keys that mean nothing here."""
        names = tuple(known)
        for key in self.rows:
            if key not in names:
                raise unknown("key", key, names, self.where.key(key))

    def text(self, key: str, default: str | None = None) -> str:
        """Read a text; without a default it must be there and not be empty."""
        value = self._read(key, str, "a text", default)
        if default is None and not value.strip():
            raise self.bad(key, "an empty text", "write a text")
        return value

    def number(self, key: str, default: int | None = None) -> int:
        """Read an integer."""
        return self._read(key, int, "an integer", default)

    def flag(self, key: str, default: bool | None = None) -> bool:
        """Read true or false."""
        return self._read(key, bool, "true or false", default)

    def texts(
        self, key: str, default: tuple[str, ...] | None = None
    ) -> tuple[str, ...]:
        """Read an array of texts."""
        return self._array(key, str, "an array of texts", default)

    def numbers(
        self, key: str, default: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        """Read an array of integers."""
        return self._array(key, int, "an array of integers", default)

    def table(self, key: str, *, required: bool = True) -> Table:
        """Read a table; one that may be left out is empty then."""
        value = self._read(key, dict, "a table", None if required else {})
        return Table(value, self.where.key(key))

    def tables(self, key: str, *, required: bool = True) -> tuple[Table, ...]:
        """Read an array of tables."""
        found: tuple[dict[str, object], ...] = self._array(
            key, dict, "an array of tables", None if required else ()
        )
        where = self.where.key(key)
        return tuple(Table(one, where.item(i)) for i, one in enumerate(found))

    def items(self) -> Iterator[tuple[str, Table]]:
        """Read every key as a table."""
        for key in self.rows:
            yield key, self.table(key)

    def one_of(
        self, key: str, known: Iterable[str], what: str, default: str | None = None
    ) -> str:
        """Read a text that must be one of the known names."""
        value, names = self.text(key, default), tuple(known)
        if value not in names and value != default:
            raise unknown(what, value, names, self.where.key(key))
        return value

    def each_of(
        self,
        key: str,
        known: Iterable[str],
        what: str,
        default: tuple[str, ...] | None = None,
    ) -> tuple[str, ...]:
        """Read an array of texts, each one of the known names."""
        values, names = self.texts(key, default), tuple(known)
        for index, value in enumerate(values):
            if value not in names:
                raise unknown(what, value, names, self.where.key(key).item(index))
        return values

    def dtype(self, key: str, default: str | None = None) -> str:
        """Read a dtype of torch, modelled or not, under the name that torch prints."""
        value = self.text(key, default)
        if value in ALIASES:
            what = f"{value!r} is another name of a dtype"
            raise self.bad(key, what, f"write {ALIASES[value]}")
        return self.one_of(key, TORCH_DTYPES, "dtype", default)

    def device(self, key: str, default: str | None = None) -> str:
        """Read a device of torch, modelled or not: a type, and an index maybe."""
        value = self.text(key, default)
        kind, colon, index = value.partition(":")
        if kind not in TORCH_DEVICES:
            raise unknown("device", value, TORCH_DEVICES, self.where.key(key))
        if colon and not (index.isascii() and index.isdecimal()):
            raise self.bad(key, f"{value!r} is no device", f"write {kind} or {kind}:0")
        return value

    def name(self, key: str) -> str:
        """Read a variable's name or a label."""
        return checked_name(self.text(key), self.where.key(key))

    def place(self, key: str) -> str:
        """Read a place: a variable or a path from one."""
        return checked_place(self.text(key), self.where.key(key))

    def _read(self, key: str, kind: type[D], what: str, default: D | None) -> D:
        value = self.rows.get(key, default)
        if value is None:
            raise BadInput(f"{key!r} is missing", self.where, f"write {key} = {what}")
        if not is_a(value, kind):
            raise self.bad(key, f"{shown(value)} is not {what}", f"write {what}")
        return value  # type: ignore[return-value]

    def _array(
        self, key: str, kind: type[D], what: str, default: tuple[D, ...] | None
    ) -> tuple[D, ...]:
        if key not in self.rows and default is not None:
            return default
        values = self._read(key, list, what, None)
        for index, value in enumerate(values):
            if not is_a(value, kind):
                raise BadInput(
                    f"{shown(value)} does not belong into {what}",
                    self.where.key(key).item(index),
                    f"write {what}",
                )
        return tuple(values)


def is_a(value: object, kind: type) -> bool:
    """Whether a value has a type; true and false are no integers here."""
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def shown(value: object) -> str:
    """Write a value of a file on one short line."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def checked_name(name: str, where: Where) -> str:
    """
    Refuse what cannot be a variable's name.

    Names end up in Python that is written for a user to run.
    """
    if not (name.isidentifier() and name.isascii()) or iskeyword(name):
        raise BadInput(f"{name!r} is no name", where, "write a Python identifier")
    return name


def checked_variable(name: str, where: Where) -> str:
    """Refuse what cannot be a variable, or is one of the invariants' own."""
    if name == OUTPUT:
        what = f"{name!r} is what an invariant assigns to look ahead"
        raise BadInput(what, where, "write another name")
    return checked_name(name, where)


def checked_place(place: str, where: Where) -> str:
    """Refuse what cannot be a place."""
    if not PLACE.fullmatch(place) or any(map(iskeyword, re.findall(r"\w+", place))):
        instead = "write a variable or a path such as m.weight"
        raise BadInput(f"{place!r} is no place", where, instead)
    return place
