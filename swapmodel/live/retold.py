"""
What does Python see of a live world, told in the numbers of a lifted heap?

Two worlds are compared after a conversion: what torch made of the live one, and what
the model says of the heap.  Both tell contents by a digest, sizes as none, one, many.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import torch
from attrs import evolve

from swapmodel.conformance.look import seen_by
from swapmodel.conformance.observation import FIELDS, VALUES, Observation, Row, observe
from swapmodel.conformance.survey import survey
from swapmodel.live import holders, kinds
from swapmodel.live.lift import Lifted
from swapmodel.live.reader import LiveReader
from swapmodel.live.reasons import NotLifted
from swapmodel.state.heap import Heap

MANY = 2

DTYPE, OFFSET, LENGTH = map(FIELDS.index, ("dtype", "offset", "length"))

Contents = tuple[bytes, ...]
"""What each value of a lifted heap stands for."""


def contents(roots: Mapping[str, Any], lifted: Lifted) -> Contents:
    """Read what each value stands for, before anything is converted."""
    with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
        found = survey(LiveReader(dict(roots)))
        tensors = [found.places[number][1] for number in sorted(found.first.values())]
        read = dict[int, Any]()
        made = list[bytes]()
        for piece in lifted.pieces:
            if piece.tensor is None or tensors[piece.tensor].device.type == "meta":
                made.append(b"")
                continue
            whole = read.setdefault(piece.tensor, _wide(tensors[piece.tensor]))
            made.append(whole[piece.start :][: piece.count].tobytes())
    return tuple(made)


def _wide(t: Any) -> Any:
    """The elements of *t* in order, in a dtype that every other one fits into."""
    covered = t.untyped_storage(), t.storage_offset(), t.shape, t.stride()
    elements = torch.empty(0, dtype=t.dtype).set_(*covered).reshape(-1)
    return elements.to(_widest(t.dtype)).numpy()


def _widest(dtype: Any) -> Any:
    return torch.complex128 if dtype.is_complex else torch.float64


def _digest(read: bytes) -> str:
    return sha256(read).hexdigest()[:16]


def _narrowed(read: bytes, dtype: Any) -> bytes:
    """What a cast leaves of contents that were read."""
    if not read:
        return read
    elements = torch.frombuffer(bytearray(read), dtype=_widest(dtype))
    return bytes(elements.to(dtype).to(_widest(dtype)).numpy().tobytes())


# -- The two worlds --------------------------------------------------------------------


def seen(heap: Heap, known: Contents) -> Observation:
    """What the model says that Python sees."""
    return retold(observe(heap), known)


def retold(found: Observation, known: Contents) -> Observation:
    """What is observed of a lifted heap, in words that fit the live world."""
    places = [(place, _retold(row, known)) for place, row in found.places]
    return evolve(found, places=tuple(places), weakrefs=())


def _retold(row: Row, known: Contents) -> Row:
    if len(row) == 1:
        return row
    told, values = list(row), row[VALUES]
    told[OFFSET], told[LENGTH] = min(row[OFFSET], 1), min(row[LENGTH], MANY)
    if values is not None:
        read = b"".join([known[value] for value in values])
        told[VALUES] = _digest(_narrowed(read, getattr(torch, row[DTYPE])))
    return tuple(told)


def seen_live(roots: Mapping[str, Any], lifted: Lifted) -> Observation:
    """What Python sees, in the words of `seen`; whose weak references is not told."""
    return evolve(seen_by(_Retelling(roots, lifted)), weakrefs=())


class _Retelling(LiveReader):
    """A live world, read as a lifted heap tells it."""

    def __init__(self, roots: Mapping[str, Any], lifted: Lifted) -> None:
        super().__init__(dict(roots))
        self.numbers = lifted.numbers

    def class_name(self, t: Any) -> str:
        try:
            return kinds.kind_of(t)
        except NotLifted:
            return super().class_name(t)

    def offset(self, t: Any) -> int:
        return min(super().offset(t), 1)

    def length(self, t: Any) -> int:
        return min(super().length(t), MANY)

    def values(self, t: Any) -> Any:
        return _digest(_wide(t).tobytes())

    def attributes(self, t: Any) -> tuple[Any, ...]:
        return self.numbers.of_each(holders.attributes(t))

    def slots(self, t: Any) -> tuple[tuple[str, Any], ...]:
        return self.numbers.of_each(holders.slots(t))

    def labels(self, listed: dict[int, Any] | None) -> tuple[str, ...] | None:
        return None if listed is None else tuple(map(str, listed))
