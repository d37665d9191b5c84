"""
Where do programs start that try every function of a conversion, on every path?
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from swapmodel.actions import (
    Action,
    Backward,
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
from swapmodel.conversions import (
    ByRole,
    Cast,
    ConversionFn,
    DetachEach,
    Identity,
    NoTensor,
    Other,
    RaiseAt,
    Scale,
    ScaleInPlace,
    To,
    ToDevice,
    ToEmpty,
    Type,
    Unwrap,
    Wrap,
)
from swapmodel.search.scope import Scope
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap

FLAGS = (False, True)

CLASSES = ("Parameter", "TwoTensor")

DOUBLE = Cast("float64")

FUNCTIONS: tuple[ConversionFn, ...] = (
    *(Cast(one) for one in ("float16", "bfloat16", "float32", "float64")),
    *(To(one) for one in ("float64", "int64")),
    *(Type(one) for one in ("float64", "float32", "int64")),
    *(ToDevice(one) for one in ("cpu", "meta")),
    *(ToEmpty(one) for one in ("cpu", "meta")),
    Identity(),
    DetachEach(),
    Scale(),
    ScaleInPlace(),
    Wrap("TwoTensor"),
    Unwrap(),
    NoTensor(),
    *(Other(one) for one in ("m.bias", "m.weight", "m.weight.grad", "u")),
    *(RaiseAt(number, DOUBLE) for number in (1, 2, 3)),
    RaiseAt(2, Scale()),
    RaiseAt(2, ScaleInPlace()),
    RaiseAt(2, ToDevice("meta")),
    ByRole(Identity(), DOUBLE),
    ByRole(DOUBLE, Identity()),
    ByRole(Identity(), NoTensor()),
    ByRole(DOUBLE, Type("int64")),
    ByRole(ToDevice("meta"), Identity()),
    ByRole(Identity(), ToDevice("meta")),
    ByRole(Wrap("TwoTensor"), Identity()),
    ByRole(Identity(), Wrap("TwoTensor")),
    ByRole(Unwrap(), DOUBLE),
    ByRole(Other("m.bias"), DOUBLE),
    ByRole(DetachEach(), Other("m.bias")),
)
"""Every kind of function, with what its paths can tell apart."""

REPRESENTATIVES: tuple[ConversionFn, ...] = (
    DOUBLE,
    Type("int64"),
    ToDevice("cpu"),
    ToDevice("meta"),
    ToEmpty("cpu"),
    ScaleInPlace(),
    Wrap("TwoTensor"),
    Unwrap(),
    Other("m.bias"),
    RaiseAt(2, DOUBLE),
    ByRole(Identity(), DOUBLE),
)
"""What stands for the others in longer programs."""


def scopes(depth: int) -> tuple[Scope, ...]:
    """All functions up to two actions, their representatives beyond."""
    chosen = FUNCTIONS if depth <= 2 else REPRESENTATIVES
    return (
        Scope(
            id="conversions",
            starts=tuple(_starts()),
            actions=(*_conversions(chosen), *_around(chosen is FUNCTIONS)),
            depth=depth,
        ),
    )


def _conversions(functions: tuple[ConversionFn, ...]) -> Iterator[Action]:
    for fn in functions:
        yield Convert("m", fn)


def _around(everything: bool) -> Iterator[Action]:
    """What makes a difference to a conversion, and what shows one."""
    yield Forward("scale", "m.weight", "y")
    yield Forward("square", "m.weight", "y")
    yield Forward("scale", "m.running", "y")
    yield Backward("y")
    if not everything:
        return
    yield Backward("m.running")
    yield Forward("square", "m.bias", "y")
    yield TakeWeakref("ReferenceType", "m.weight", "r")
    yield TakeWeakref("ReferenceType", "m.weight.grad", "r")
    yield TakeWeakref("_WeakTensorRef", "m.weight", "r")
    yield RegisterHook("m.weight", "h")
    yield RegisterHook("m.running", "k")
    yield SetAttribute("m.weight", "tag")
    yield View("m.weight", "v")
    yield View("m.running", "v")
    yield View("m.weight.grad", "v")
    yield CastData("m.weight", "float64")
    yield CastData("m.weight.grad", "int64")
    yield SetData("m.weight", "u")
    yield SetData("u", "m.weight")
    yield SetData("m.running", "m.weight")
    yield SwapTensors("m.weight", "u")
    yield SwapTensors("m.weight", "m.bias")
    yield FillGrad("m.weight")
    yield FillGrad("m.bias")
    yield FillGrad("m.running")
    yield ClearGrad("m.weight")
    yield Drop("y")


def _starts() -> Iterator[tuple[str, Heap]]:
    for cls, swap, overwrite in product(CLASSES, FLAGS, FLAGS):
        flags = f"{'-swap' * swap}{'-overwrite' * overwrite}"
        for name, device, dtype, needs_grad in (
            ("", "cpu", "float32", True),
            ("-meta", "meta", "float32", True),
            ("-integer", "cpu", "int64", False),
            ("-frozen", "cpu", "float64", False),
        ):
            b = Builder(swap=swap, overwrite=overwrite)
            _fill(b, cls, device, dtype, needs_grad)
            yield f"{cls}{name}{flags}", b.heap()


def _fill(b: Builder, cls: str, device: str, dtype: str, needs_grad: bool) -> None:
    def values(*ones: int) -> tuple[int, ...] | None:
        return None if device == "meta" else ones

    w = b.parameter(
        values(1, 2),
        cls=cls,
        dtype=dtype,
        device=device,
        requires_grad=needs_grad,
        attributes={"kept": 1},
    )
    inner = "Tensor" if cls == "Parameter" else cls
    b.gradient(w, b.tensor(values(1, 1), cls=inner, dtype=dtype, device=device))
    bias = b.parameter(values(0, 7), device=device)
    running = b.tensor(
        values(5, 6), device=device, requires_grad=needs_grad, attributes={"kept": 2}
    )
    b.name(
        "m",
        "module",
        b.module({"weight": w, "bias": bias}, buffers={"running": running}),
    )
    b.name("u", "tensor", b.tensor(values(3, 4), device=device))
