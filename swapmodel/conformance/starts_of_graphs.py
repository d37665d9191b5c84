"""
Where do programs about graphs, hooks and views start, and what may they do?
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    CastData,
    ClearGrad,
    Convert,
    Detach,
    Drop,
    FillGrad,
    Forward,
    Product,
    RegisterHook,
    RequiresGrad,
    RetainGrad,
    SetData,
    SetGrad,
    SwapTensors,
    TakeWeakref,
    View,
    Write,
)
from swapmodel.search.scope import Scope
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap

CLASSES = ("Parameter", "TwoTensor")

FUNCTIONS = ("scale", "square", "relu")

KINDS = ("tensor", "post-accumulate", "node")


def scopes() -> tuple[Scope, ...]:
    """Programs of two of all actions, and of three representatives."""
    return scope(2), representatives(3)


def scope(depth: int) -> Scope:
    """Every action of the area, from two parameters, a module and a shorter tensor."""
    starts = ((f"autograd-{cls}", _start(cls)) for cls in CLASSES)
    return Scope(
        id="autograd", starts=tuple(starts), actions=tuple(_actions()), depth=depth
    )


def representatives(depth: int) -> Scope:
    """The same starts with one or two actions of each kind."""
    starts = ((f"autograd-{cls}", _start(cls)) for cls in CLASSES)
    return Scope(
        id="autograd-representatives",
        starts=tuple(starts),
        actions=tuple(_representatives()),
        depth=depth,
    )


def _start(cls: str) -> Heap:
    b = Builder()
    p = b.parameter((1, 2), cls=cls)
    b.name("m", "module", b.module({"weight": p}))
    b.name("p", "tensor", p)
    b.name("q", "tensor", b.parameter((3, 0)))
    b.name("s", "tensor", b.tensor((5,)))
    b.name("g", "tensor", b.tensor((1, 3), dtype="float64"))
    b.name("n", "tensor", b.tensor((2, 1), dtype="int64"))
    return b.heap()


def _actions() -> Iterator[Action]:
    tensors = ("p", "q", "y", "z", "v", "p.grad")
    for t in tensors:
        for function in FUNCTIONS:
            yield Forward(function, t, "z" if t == "y" else "y")  # type: ignore[arg-type]
        yield Forward("scale", t, "z", grad_mode=False)
        yield from (View(t, "v"), View(t, "w"), View(t, "v", grad_mode=False))
        yield from (Write(t), Backward(t), RetainGrad(t), Detach(t, "d"))
        yield from (RequiresGrad(t, True), RequiresGrad(t, False))
        for label, kind in zip("hijk", (*KINDS, "tensor"), strict=True):
            yield RegisterHook(t, label, kind)  # type: ignore[arg-type]
    for t, u in _pairs(("p", "q", "s", "v", "y", "n")):
        yield Product(t, u, "y" if "y" not in (t, u) else "z")
    yield Product("p", "q", "z", grad_mode=False)
    for t in ("p", "q", "y", "s"):
        for u in ("q", "y", "v", "g", "s", "n"):
            if t != u:
                yield SetGrad(t, u)
    for t in ("p", "q", "y", "v", "p.grad"):
        for u in ("s", "g", "q", "n", "d"):
            if t != u:
                yield SetData(t, u)
    yield from (SetData("s", "q"), SetData("s", "n"), SetData("p", "p.grad"))
    for t in ("p", "q", "y", "v", "p.grad"):
        yield from (SwapTensors(t, "q"), SwapTensors(t, "d"), CastData(t, "float64"))
    for t in ("p", "q", "y", "v"):
        yield from (FillGrad(t), ClearGrad(t), TakeWeakref("ReferenceType", t, "r"))
    yield from (RequiresGrad("s"), RequiresGrad("n"), RequiresGrad("d"))
    yield from (Backward("w"), Backward("d"), Write("w"), Write("d"), Write("s"))
    for name in ("y", "z", "v", "w", "d", "q", "p"):
        yield Drop(name)
    yield from (Convert("m", Cast("float64")), Convert("m", Cast("float32")))


def _pairs(places: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for t in places:
        for u in places:
            yield t, u


def _representatives() -> Iterator[Action]:
    yield from (Forward("relu", "p", "y"), Forward("square", "v", "y"))
    yield from (Product("p", "q", "y"), Product("y", "v", "z"))
    yield from (View("p", "v"), View("p", "v", grad_mode=False), View("v", "w"))
    yield from (Write("p"), Write("y"), Write("v"), Detach("p", "d"))
    yield from (Backward("y"), Backward("v"), Backward("w"), RetainGrad("y"))
    yield from (RequiresGrad("p", False), RequiresGrad("s"), RetainGrad("v"))
    for label, kind in zip("hij", KINDS, strict=True):
        yield RegisterHook("p", label, kind)  # type: ignore[arg-type]
    yield from (RegisterHook("y", "k"), RegisterHook("v", "l", "tensor"))
    yield from (SetGrad("p", "y"), SetGrad("p", "q"), SetData("p", "s"))
    yield from (SetData("y", "s"), SetData("v", "q"), CastData("p", "float64"))
    yield from (SwapTensors("p", "q"), SwapTensors("v", "q"), SwapTensors("y", "q"))
    yield from (Drop("p"), Drop("y"), Convert("m", Cast("float64")))
