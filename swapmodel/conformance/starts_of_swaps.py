"""
Where do programs of four actions start, and what may they do?  Swaps and little else.
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.actions import (
    Action,
    Backward,
    CastData,
    ClearGrad,
    Convert,
    Drop,
    FillGrad,
    Forward,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.conversions import Cast
from swapmodel.search.scope import Scope
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap


def scopes() -> tuple[Scope, ...]:
    """Every program of four actions on a module's parameter and another one."""
    starts = tuple((f"data{'-swap' * swap}", _start(swap)) for swap in (False, True))
    return (Scope(id="swap-4", starts=starts, actions=tuple(_actions()), depth=4),)


def _start(swap: bool) -> Heap:
    b = Builder(swap=swap)
    w = b.parameter((1, 2))
    b.gradient(w, b.tensor((1, 1)))
    b.name("m", "module", b.module({"w": w}))
    b.name("q", "tensor", b.parameter((3, 4)))
    return b.heap()


def _actions() -> Iterator[Action]:
    yield SwapTensors("m.w", "q")
    yield from (Convert("m", Cast(dtype)) for dtype in ("float32", "float64"))
    yield CastData("q", "float64")
    yield from (TakeWeakref("ReferenceType", "m.w", "r"), Drop("r"))
    yield from (FillGrad("q"), ClearGrad("m.w"))
    yield from (Forward("square", "m.w", "y"), Backward("y"), View("m.w", "v"))
