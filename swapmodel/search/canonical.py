"""
When are two heaps the same, as far as any later action or invariant can tell?

When their keys are equal.  Things are numbered in the order in which the variables
reach them; `shapes` says what is written of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, TypeAlias, get_args, get_type_hints

import attrs

from swapmodel.search.shapes import (
    KIND_BITS,
    KINDS,
    POSITIONS,
    Address,
    Shape,
    address,
    plain,
    record_shape,
    shape_of,
    small,
)
from swapmodel.semantics.edges import is_stale
from swapmodel.state.autograd import Node
from swapmodel.state.heap import COLUMNS, Heap, living
from swapmodel.state.ids import Held, ImplId, NodeId, TensorId, WeakrefId
from swapmodel.state.keepers import KEEPERS

Written: TypeAlias = tuple[object, bytes, tuple[Address, ...]]
"""A value, what is written of it, and the positions that it holds, in order."""

FAR = 2
"""A version counter is written as no further than this from a recorded version."""

WIDE = b"\xff\xff\xff\xff\xff"
"""Starts a key whose numbers are wide; no heap has as many variables as it says."""

REMEMBERED = 1 << 16
"""How many records are remembered as written; heaps share what a step left alone."""


def canonical(heap: Heap) -> bytes:
    """
    The key of a heap: equal for heaps that only positions and history tell apart.

    What no variable reaches is not written, a released position is a zero, and
    `versions_seen` and `order_of_creation` say what is left of the history.
    """
    columns = _columns(heap)
    roots = _roots(heap)
    known = _ROOTS.get(roots) or _write_roots(roots)
    out = [*known[1]]
    order: list[Address] = [*dict.fromkeys(known[2])]
    numbers = {one: number for number, one in enumerate(order, 1)}
    out += map(numbers.__getitem__, known[2])
    for one in order:
        kind, position = one & _KIND, one >> KIND_BITS
        for column in _READ[kind]:
            record = columns[column][position]
            # Sound, because what is remembered holds the record as well.
            known = _WRITTEN.get(id(record)) or _write(column, record)
            out += known[1]
            for other in known[2]:
                number = numbers.get(other)
                if number is None:
                    number = 0
                    first = columns[_FIRST_COLUMN[other & _KIND]]
                    if first[other >> KIND_BITS] is not None:
                        order.append(other)
                        numbers[other] = number = len(order)
                out.append(number)
        if kind in (_NODES, _IMPLS):
            out += versions_seen(heap, kind, position)
    out += registered(heap, numbers)
    nodes = [one for one in order if one & _KIND == _NODES]
    if nodes:
        out += order_of_creation(columns[_NODE_COLUMN], nodes)
    return packed(out)


def packed(numbers: list[int]) -> bytes:
    """Turn small numbers into bytes, four for each if one of them is not so small."""
    try:
        return bytes(numbers)
    except ValueError:
        return WIDE + b"".join([one.to_bytes(4, "little") for one in numbers])


# -- What is left of the history -----------------------------------------------------


def versions_seen(heap: Heap, kind: int, position: int) -> list[int]:
    """
    How far a node's saved tensors have been written since, up to `FAR`.

    Of an impl, whether it is a view that was.  Nothing else reads a version counter,
    and one that nothing recorded can be any number.
    """
    if kind == _IMPLS:
        i = ImplId(position)
        return [] if heap.meta(i).base is None else [is_stale(heap, i)]
    ahead = [
        heap.version(heap.impl(one.impl).counter) - one.version + FAR
        for one in heap.node(NodeId(position)).saved
    ]
    return [min(max(one, 0), 2 * FAR) for one in ahead]


def registered(heap: Heap, numbers: dict[Address, int]) -> Iterator[int]:
    """What a registry keeps though no variable does, sorted by the tensor's number."""
    found: list[tuple[int, list[int]]] = []
    for w, ref in living(heap.weakrefs):
        if address(_WEAKREFS, w) not in numbers and KEEPERS[ref.keeper].registered:
            label: list[int] = []
            plain(ref.label, label, [])
            assert ref.tensor is not None
            found.append((numbers[address(_TENSORS, ref.tensor)], label))
    for number, label in sorted(found):
        yield from (number, *label)


def order_of_creation(nodes: Sequence[Node], found: Iterable[Address]) -> list[int]:
    """
    Which of the nodes, in the order of the key, was made before which.

    Backward runs the newest node that is ready, and an `AccumulateGrad` at once.  It
    has a choice where a node has several edges, and two graphs can become one.
    """
    numbered = [one for one in found if nodes[one >> KIND_BITS].variable is None]
    rank = {one: number for number, one in enumerate(sorted(numbered))}
    return [rank[one] for one in numbered]


# -- What is read of each kind of thing ------------------------------------------------

_KIND = (1 << KIND_BITS) - 1
_NODES, _IMPLS = KINDS.index(NodeId), KINDS.index(ImplId)
_TENSORS, _WEAKREFS = KINDS.index(TensorId), KINDS.index(WeakrefId)

_HINTS = get_type_hints(Heap)
_STATE = tuple(name for name in _HINTS if name not in (*COLUMNS, "names"))
"""The fields of a heap that are neither a column nor the variables."""

_columns = attrgetter(*COLUMNS)
_roots = attrgetter("names", *_STATE)
_ROOTS: dict[Any, Written] = {}
_STATE_SHAPES = tuple(shape_of(_HINTS[name]) for name in _STATE)
_KIND_OF = {columns[0].removesuffix("s"): kind for kind, columns in POSITIONS.items()}


def _write_roots(roots: Any) -> Written:
    out: list[int] = []
    found: list[Address] = []
    names: tuple[Held, ...] = roots[0]
    small(len(names), out)
    for name, kind, position in names:
        number = KINDS.index(_KIND_OF[kind])
        plain(name, out, found)
        out.append(number)
        found.append(address(number, position))
    for shape, value in zip(_STATE_SHAPES, roots[1:], strict=True):
        shape(value, out, found)
    _ROOTS[roots] = written = (roots, bytes(out), tuple(found))
    return written


def _write(column: int, record: object) -> Written:
    """Write a record that was not met before; one equal to it may have been."""
    if len(_WRITTEN) >= REMEMBERED:
        _WRITTEN.clear()
    read, equal, shape = _CLASSES[column]
    fields = read(record)
    known = equal.get(fields)
    if known is None:
        out: list[int] = []
        found: list[Address] = []
        shape(record, out, found)
        if len(equal) >= REMEMBERED:
            equal.clear()
        equal[fields] = known = (bytes(out), tuple(found))
    _WRITTEN[id(record)] = written = (record, *known)
    return written


def _class_in(column: str) -> tuple[Any, dict[Any, Any], Shape]:
    """How a column's records are read and written, and what equal ones came to."""
    (rows, *_) = get_args(_HINTS[column])
    kinds = [one for one in (rows, *get_args(rows)) if attrs.has(one)]
    if not kinds:
        return id, {}, plain
    return attrgetter(*attrs.fields_dict(kinds[0])), {}, record_shape(kinds[0])


_WRITTEN: dict[int, Written] = {}
_CLASSES = tuple(_class_in(column) for column in COLUMNS)
_NODE_COLUMN = COLUMNS.index("nodes")
_META_COLUMN = COLUMNS.index("metas")
_FIRST_COLUMN = tuple(COLUMNS.index(columns[0]) for columns in POSITIONS.values())
_READ = tuple(
    tuple(COLUMNS.index(column) for column in columns if column != "counters")
    for columns in POSITIONS.values()
)
"""The columns that are written of each kind; of a counter only who shares it."""
