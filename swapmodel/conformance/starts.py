"""
Where do the programs that run in lockstep start, and what may they do?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

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
from swapmodel.search.scope import Scope
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId

FLAGS = (False, True)

CLASSES = {"plain": "Parameter", "wrapper": "TwoTensor"}
"""The class of the parameter of each kind of module."""


def exhaustive_scopes(depth: int) -> tuple[Scope, ...]:
    """Every program up to *depth* actions, from one kind of start heap each."""
    return (
        *(_module_scope(kind, depth) for kind in CLASSES),
        Scope(
            id="pair",
            starts=tuple(_starts(_pair)),
            actions=tuple(_tensor_actions("p", "q")),
            depth=depth,
        ),
    )


# -- Start heaps -------------------------------------------------------------------


def _module_scope(kind: str, depth: int) -> Scope:
    def filled(b: Builder, graded: bool) -> None:
        w = _parameter(b, kind, graded=graded)
        b.name("m", "module", b.module({"weight": w}))
        b.name("u", "tensor", b.tensor((3, 4)))

    extra = _inner_actions("m.weight", "u") if kind == "wrapper" else ()
    casts = (Convert("m", Cast(dtype)) for dtype in ("float32", "float64"))
    return Scope(
        id=kind,
        starts=tuple(_starts(filled)),
        actions=(*casts, *_tensor_actions("m.weight", "u"), *extra),
        depth=depth,
    )


def _starts(fill: Callable[[Builder, bool], None]) -> Iterator[tuple[str, Heap]]:
    for graded, swap in product(FLAGS, FLAGS):
        b = Builder(swap=swap)
        fill(b, graded)
        yield f"{'graded' if graded else 'bare'}{'-swap' * swap}", b.heap()


def _parameter(b: Builder, kind: str, *, graded: bool) -> TensorId:
    w = b.parameter((1, 2), cls=CLASSES[kind])
    if graded:
        cls = "Tensor" if kind == "plain" else CLASSES[kind]
        b.gradient(w, b.tensor((1, 1), cls=cls))
    return w


def _pair(b: Builder, graded: bool) -> None:
    b.name("p", "tensor", _parameter(b, "plain", graded=graded))
    b.name("q", "tensor", b.tensor((3, 4)))


# -- Actions -----------------------------------------------------------------------


def _tensor_actions(p: str, u: str) -> Iterator[Action]:
    """What can be done with a parameter, another tensor, outputs and views."""
    grad = f"{p}.grad"
    for t1, t2 in ((p, u), (u, p), (p, p), (p, "y"), (p, "v"), (grad, u)):
        yield SwapTensors(t1, t2)
    for t, source in ((p, u), (u, p), (p, "y"), (p, "v"), ("v", u), (grad, u)):
        yield SetData(t, source)
    for t in (p, u, grad):
        yield CastData(t, "float64")
    yield from (FillGrad(p), FillGrad(u), ClearGrad(p))
    for function, t, name in (
        ("scale", p, "y"),
        ("square", p, "y"),
        ("scale", "v", "y"),
        ("scale", u, "y"),
        ("square", "y", "z"),
    ):
        yield Forward(function, t, name)  # type: ignore[arg-type]
    for t in (p, "y", "z", "v"):
        yield Backward(t)
    for t in (p, u, "y", grad):
        yield View(t, "v")
    for name in ("y", "v", "r", u):
        yield Drop(name)
    for t in (p, u, grad, "y"):
        yield TakeWeakref("ReferenceType", t, "r")
    yield TakeWeakref("_WeakTensorRef", p, "r")
    for t, label in ((p, "h"), ("y", "k"), ("v", "k")):
        yield RegisterHook(t, label)
    for t in (p, grad):
        yield SetAttribute(t, "tag")


def _inner_actions(w: str, u: str) -> Iterator[Action]:
    """What can be done with an inner tensor of a wrapper."""
    inner = f"{w}.a"
    yield TakeWeakref("ReferenceType", inner, "r")
    yield CastData(inner, "float64")
    yield View(inner, "v")
    yield SetData(inner, u)
