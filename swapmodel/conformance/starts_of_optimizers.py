"""
Programs about optimizers: made before or after a conversion, and what they train.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import get_args

from swapmodel.actions import (
    Action,
    AddParamGroup,
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
    Tie,
    View,
    ZeroGrad,
)
from swapmodel.conversions import ToDevice
from swapmodel.search.scope import Scope
from swapmodel.state.build import Builder
from swapmodel.state.classes import tensor_class
from swapmodel.state.heap import Heap
from swapmodel.state.optimizers import OptimizerKind

CLASSES = {
    "plain": ("Parameter", "Tensor"),
    "wrapper": ("TwoTensor", "TwoTensor"),
    "plain-for-wrapper": ("TwoTensor", "Tensor"),
    "wrapper-for-plain": ("Parameter", "OpaqueTensor"),
    "converting": ("SubTensor", "SubTensor"),
    "unwrapping": ("UnwrappingTensor", "UnwrappingTensor"),
    "lazy": ("UninitializedParameter", "Tensor"),
}
"""The classes of a parameter and of its gradient."""

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
    cls, graded = CLASSES[kind]
    lazy = tensor_class(cls).uninitialized
    w, c = b.parameter(() if lazy else (1, 2), cls=cls), b.parameter((3, 4))
    b.gradient(w, b.tensor(() if lazy else (1, 3), cls=graded))
    whole = b.parameter((5, 6), dtype="int64", requires_grad=False)
    b.gradient(whole, b.tensor((1, 1), dtype="int64"))
    child = b.module({"weight": c, "tied": w})
    b.name("m", "module", b.module({"weight": w}, children={"child": child}))
    b.name("e", "module", b.module())
    b.name("n", "module", b.module({"whole": whole}))
    b.name("u", "tensor", b.tensor((3, 4)))
    return b.heap()


def _few_actions() -> Iterator[Action]:
    for kind in KINDS:
        yield MakeOptimizer(kind, "m", "o")
    yield from (OptimizerStep("o"), ZeroGrad("o"), ZeroGrad("o", False))
    yield from (Convert("m", Cast("float64")), Convert("m", Cast("float16")))
    yield AddParamGroup("o", "n")
    yield from (FillGrad("m.weight"), FillGrad("m.child.weight"), Drop("m"), Drop("o"))


def _actions() -> Iterator[Action]:
    yield from _few_actions()
    yield from (MakeOptimizer(kind, "n", "o") for kind in KINDS)
    yield MakeOptimizer("SGD", "e", "o")
    yield from (AddParamGroup("o", m) for m in ("m", "m.child", "e", "n"))
    yield from (Tie("n", "weight", "u"), Convert("m", ToDevice("meta")))
    for t in ("m.weight", P, f"{P}.grad", *[f"o.state[0][0].{one}" for one in STATE]):
        yield from (CastData(t, "float64"), View(t, "v"), SwapTensors(t, "u"))
        yield TakeWeakref("ReferenceType", t, "r")
        yield SetData(t, "u")
    yield Forward("scale", "m.weight", "y")
    yield Forward("square", P, "y")
    yield from (Backward("y"), Backward(P), ClearGrad("m.weight"))
