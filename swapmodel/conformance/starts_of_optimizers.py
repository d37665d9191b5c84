"""
Programs about optimizers: made before or after a conversion, and what they train.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import get_args

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    CastData,
    ClearGrad,
    Convert,
    Drop,
    FillGrad,
    Forward,
    MakeOptimizer,
    OptimizerStep,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
    ZeroGrad,
)
from swapmodel.search.scope import Scope
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from swapmodel.state.optimizers import OptimizerKind

CLASSES = {"plain": "Parameter", "wrapper": "TwoTensor"}
KINDS: tuple[OptimizerKind, ...] = get_args(OptimizerKind)
FLAGS: tuple[dict[str, bool], ...] = ({}, {"swap": True}, {"overwrite": True})
P, STATE = "o.param_groups[0][0]", ("momentum_buffer", "exp_avg")


def scopes() -> tuple[Scope, ...]:
    """Two actions of all, three and four of some."""
    starts = tuple(
        ("-".join([kind, *flags]), _start(kind, Builder(**flags)))
        for kind, flags in product(CLASSES, FLAGS)
    )
    few = tuple(_few_actions())
    return (
        Scope(id="optimizers", starts=starts, actions=tuple(_actions()), depth=2),
        Scope(id="trained", starts=starts, actions=few, depth=3),
    )


def _start(kind: str, b: Builder) -> Heap:
    cls = CLASSES[kind]
    w, c = b.parameter((1, 2), cls=cls), b.parameter((3, 4))
    b.gradient(w, b.tensor((1, 3), cls=cls if cls != "Parameter" else "Tensor"))
    child = b.module({"weight": c, "tied": w})
    b.name("m", "module", b.module({"weight": w}, children={"child": child}))
    b.name("e", "module", b.module())
    b.name("u", "tensor", b.tensor((3, 4)))
    return b.heap()


def _few_actions() -> Iterator[Action]:
    for kind in KINDS:
        yield MakeOptimizer(kind, "m", "o")
    yield from (OptimizerStep("o"), ZeroGrad("o"), ZeroGrad("o", False))
    yield from (Convert("m", Cast("float64")), Convert("m", Cast("float16")))
    yield from (FillGrad("m.weight"), FillGrad("m.child.weight"), Drop("m"), Drop("o"))


def _actions() -> Iterator[Action]:
    yield from _few_actions()
    yield MakeOptimizer("SGD", "e", "o")
    for t in ("m.weight", P, f"{P}.grad", *[f"o.state[0].{one}" for one in STATE]):
        yield from (CastData(t, "float64"), View(t, "v"), SwapTensors(t, "u"))
        yield TakeWeakref("ReferenceType", t, "r")
        yield SetData(t, "u")
    yield Forward("scale", "m.weight", "y")
    yield Forward("square", P, "y")
    yield from (Backward("y"), Backward(P), ClearGrad("m.weight"))
