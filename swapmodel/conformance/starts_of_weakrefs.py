"""
Programs about weak references: every keeper of every tensor, and who dies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from swapmodel.actions import (
    Action,
    Cast,
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
from swapmodel.search.scope import Scope
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from swapmodel.state.keepers import KEEPERS, Keeper

CLASSES = {"plain": "Parameter", "wrapper": "TwoTensor"}

STARTS = (
    ("plain", False, False),
    ("plain", False, True),
    ("plain", True, False),
    ("wrapper", False, False),
)
"""The class of the parameter, and the flags `swap` and `overwrite`."""

SOME: tuple[Keeper, ...] = ("ReferenceType", "finalize", "WeakIdKeyDictionary", "guard")
"""A reference that is shared, one that outlives its name, a map and a note."""


def scopes() -> tuple[Scope, ...]:
    """Two actions of all, three of some, under each flag."""
    starts = tuple(
        (f"{kind}{'-swap' * swap}{'-overwrite' * overwrite}", heap)
        for kind, swap, overwrite in STARTS
        for heap in [_start(kind, Builder(swap=swap, overwrite=overwrite))]
    )
    return (
        Scope(
            id="every keeper", starts=starts, actions=tuple(_actions(KEEPERS)), depth=2
        ),
        Scope(
            id="some keepers",
            starts=starts[1:3],
            actions=tuple(_few_actions()),
            depth=3,
        ),
    )


def _start(kind: str, b: Builder) -> Heap:
    cls = CLASSES[kind]
    w = b.parameter((1, 2), cls=cls)
    b.gradient(w, b.tensor((1, 1), cls=cls if cls != "Parameter" else "Tensor"))
    b.name("m", "module", b.module({"weight": w}))
    b.name("u", "tensor", b.tensor((3, 4)))
    b.name("s", "tensor", b.tensor((3,)))
    return b.heap()


def _actions(keepers: Iterable[Keeper]) -> Iterator[Action]:
    for keeper, t in product(keepers, ("m.weight", "u", "s", "m.weight.grad")):
        yield TakeWeakref(keeper, t, "r")
    for keeper, t in product(keepers, ("m.weight", "s")):
        yield TakeWeakref(keeper, t, "q")
    yield from _others()


def _few_actions() -> Iterator[Action]:
    for keeper, name in product(SOME, ("r", "q")):
        yield TakeWeakref(keeper, "m.weight", name)
        yield TakeWeakref(keeper, "u", name)
    yield from _others()


def _others() -> Iterator[Action]:
    for name in ("r", "q", "u", "s"):
        yield Drop(name)
    yield from (ClearGrad("m.weight"), FillGrad("m.weight"))
    yield from (SwapTensors("m.weight", "u"), SwapTensors("s", "u"))
    yield from (Convert("m", Cast("float64")), CastData("u", "float64"))
    yield from (Forward("scale", "m.weight", "y"), View("u", "v"))
