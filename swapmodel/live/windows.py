"""
Which parts of memory do live tensors cover, told with few elements?

A model's storage has few elements and a real one many.  A run of elements that no
tensor divides is told by one element, or by two if it has more than one: so the model
tells none, one and many apart, and every window begins and ends where another does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from attrs import frozen

from swapmodel.live.reasons import NotLifted


@frozen
class Piece:
    """What one element of the model stands for: some elements of a tensor, in order."""

    tensor: int | None
    """The number of a tensor that covers them; `None` between all windows."""

    start: int
    """The first of them, counted in that tensor from its first element."""

    count: int


@frozen
class Window:
    """A storage and the part of it that a tensor covers, in the model's elements."""

    storage: int
    offset: int
    length: int


@frozen
class Memory:
    """The storages of some tensors."""

    windows: tuple[Window | None, ...]
    """What each tensor covers; `None` for a null storage."""

    storages: tuple[tuple[Piece, ...], ...]
    """Each storage, as the pieces that its elements stand for."""


def is_wrapper(t: Any) -> bool:
    """Whether operations on *t* are intercepted by its class (key `Python`)."""
    keys = torch._C._dispatch_keys(t)
    return bool(keys.has(torch._C.DispatchKey.Python))


def memory_of(tensors: Sequence[tuple[str, Any]]) -> Memory:
    """Look at where tensors, each with its place, have their data."""
    covering: dict[int, list[int]] = defaultdict(list)
    for number, (place, t) in enumerate(tensors):
        if is_wrapper(t):
            continue
        if not _is_dense(t):
            raise NotLifted("elements that overlap or lie apart", place)
        covering[t.untyped_storage()._cdata].append(number)
    windows: list[Window | None] = [None] * len(tensors)
    storages = list[tuple[Piece, ...]]()
    for numbers in covering.values():
        _require_order(tensors, numbers)
        spans = {n: _span(tensors[n][1]) for n in numbers}
        pieces, found = _cut(spans)
        for n, (offset, length) in found.items():
            windows[n] = Window(len(storages), offset, length)
        storages.append(pieces)
    return Memory(tuple(windows), tuple(storages))


def _span(t: Any) -> tuple[int, int]:
    return t.storage_offset(), t.storage_offset() + t.numel()


def _is_dense(t: Any) -> bool:
    """Whether the elements fill one stretch of memory, each once."""
    if t.is_contiguous():
        return True
    steps = zip(t.shape, t.stride(), strict=True)
    reach = 1 + sum((size - 1) * step for size, step in steps)
    return bool(torch._debug_has_internal_overlap(t) == 0 and reach == t.numel())


def _require_order(tensors: Sequence[tuple[str, Any]], numbers: list[int]) -> None:
    """Decline two windows of one storage if one runs through it in another order."""
    for n in numbers if len(numbers) > 1 else ():
        place, t = tensors[n]
        if not t.is_contiguous():
            raise NotLifted("a shared storage in two orders", place)


def _cut(
    spans: dict[int, tuple[int, int]],
) -> tuple[tuple[Piece, ...], dict[int, tuple[int, int]]]:
    """Cut a storage where a window begins or ends; number the elements that remain."""
    edges = sorted({0, *(edge for span in spans.values() for edge in span)})
    pieces, position = list[Piece](), {0: 0}
    for start, end in pairwise(edges):
        cover = next((n for n, (a, b) in spans.items() if a <= start < b), None)
        first = start if cover is None else start - spans[cover][0]
        pieces.append(Piece(cover, first, 1))
        if end - start > 1:
            pieces.append(Piece(cover, first + 1, end - start - 1))
        position[end] = len(pieces)
    found = {n: (position[a], position[b] - position[a]) for n, (a, b) in spans.items()}
    return tuple(pieces), found
