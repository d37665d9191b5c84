"""Start heaps and specs that the tests of the search share."""

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
    RegisterHook,
    SetAttribute,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.specfiles.read import load_spec
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap

spec = load_spec


def module(cls: str = "Parameter", *, swap: bool = False, grad: bool = True) -> Heap:
    """A module `m` with one parameter `m.weight`, and a tensor `t` beside it."""
    builder = Builder(swap=swap)
    weight = builder.parameter((1, 2), cls=cls)
    if grad:
        inner = "TwoTensor" if cls == "TwoTensor" else "Tensor"
        builder.gradient(weight, builder.tensor((1, 1), cls=inner))
    builder.name("m", "module", builder.module({"weight": weight}))
    builder.name("t", "tensor", builder.tensor((3, 4)))
    return builder.heap()


def tied(*, swap: bool = False) -> Heap:
    """A module whose two names are one parameter, which a variable holds as well."""
    builder = Builder(swap=swap)
    weight = builder.parameter((1, 2))
    builder.name("m", "module", builder.module({"weight": weight, "other": weight}))
    builder.name("p", "tensor", weight)
    return builder.heap()


SMALL: tuple[tuple[str, Heap], ...] = tuple(
    (f"{name} {'swap' if swap else 'data'}", heap)
    for swap in (False, True)
    for name, heap in (
        ("plain", module(swap=swap)),
        ("wrapper", module("TwoTensor", swap=swap)),
        ("tied", tied(swap=swap)),
    )
)
"""A few modules, each under both settings of the flag."""

TRIED: tuple[Action, ...] = (
    Convert("m", Cast("float32")),
    Convert("m", Cast("float64")),
    SwapTensors("m.weight", "t"),
    SetData("m.weight", "t"),
    CastData("m.weight", "float64"),
    FillGrad("m.weight"),
    ClearGrad("m.weight"),
    Forward("scale", "m.weight", "y"),
    Forward("square", "m.weight", "z"),
    Backward("y"),
    Backward("z"),
    View("m.weight", "v"),
    Drop("y"),
    Drop("z"),
    Drop("v"),
    Drop("t"),
    TakeWeakref("ReferenceType", "m.weight", "r"),
    TakeWeakref("ReferenceType", "t", "q"),
    TakeWeakref("_WeakTensorRef", "m.weight", "i"),
    Drop("r"),
    Drop("i"),
    RegisterHook("m.weight", "h"),
    SetAttribute("m.weight", "tag"),
)
"""Every kind of action, on the modules above."""
