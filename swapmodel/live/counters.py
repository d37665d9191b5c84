"""
Which tensors count their writes together?

Torch tells the number of a version counter and not which counter it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch


def shared_counters(tensors: Sequence[Any]) -> list[int]:
    """
    For each tensor, the first one that has the same version counter.

    Each in turn is given a number of its own: what shares a counter reads the number
    that came last.  The numbers that were there are put back.
    """
    with _kept(tensors):
        for number, t in enumerate(tensors):
            _set(t, number)
        last = [t._version for t in tensors]
    return [last.index(number) for number in last]


@contextmanager
def _kept(tensors: Sequence[Any]) -> Iterator[None]:
    before = [t._version for t in tensors]
    try:
        yield
    finally:
        for t, version in zip(tensors, before, strict=True):
            _set(t, version)


def _set(t: Any, version: int) -> None:
    torch._C._autograd._unsafe_set_version_counter((t,), (version,))
