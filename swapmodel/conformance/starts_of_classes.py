"""
Which start heaps hold tensors of every class, and what may programs do with them?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    CastData,
    ClearGrad,
    Convert,
    FillGrad,
    Forward,
    RegisterHook,
    SetAttribute,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.conversions import Identity
from swapmodel.search.scope import Scope
from swapmodel.semantics.choose import TRACEABLE
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId

Pair: TypeAlias = tuple[TensorId, Callable[[], TensorId], TensorId]
"""A parameter, what makes the gradient that it may have, and another tensor."""

STARTS = (
    ("bare", False, False),
    ("graded", False, False),
    ("graded-swap", True, False),
    ("graded-overwrite", False, True),
)
"""Whether the parameter has a gradient, and the switches (swap, overwrite)."""


# -- A parameter, its gradient, another tensor -----------------------------------------


def _of_class(cls: str, **given: object) -> Callable[[Builder], Pair]:
    def made(b: Builder) -> Pair:
        w = b.parameter((1, 2), cls=cls, **given)  # type: ignore[arg-type]
        return w, lambda: b.tensor((1, 1)), b.tensor((3, 4))

    return made


def _wrapper(cls: str) -> Callable[[Builder], Pair]:
    def made(b: Builder) -> Pair:
        w, u = b.parameter((1, 2), cls=cls), b.tensor((3, 4), cls=cls)
        return w, lambda: b.tensor((1, 1), cls=cls), u

    return made


def _subclass(b: Builder) -> Pair:
    w, u = b.parameter((1, 2), cls="SubTensor"), b.tensor((3, 4))
    return w, lambda: b.tensor((1, 1), cls="SubTensor"), u


def _slotted(other: str) -> Callable[[Builder], Pair]:
    def made(b: Builder) -> Pair:
        w = b.parameter((1, 2), cls="SlottedParameter", slots={"x": 1, "y": 2})
        u = b.tensor((3, 4), cls=other, slots={"x": 3})
        return w, lambda: b.tensor((1, 1)), u

    return made


def _integers(b: Builder) -> Pair:
    w = b.parameter((1, 2), dtype="int64", requires_grad=False)
    return w, lambda: b.tensor((1, 1), dtype="int64"), b.tensor((3, 4))


def _frozen(b: Builder) -> Pair:
    w = b.parameter((1, 2), requires_grad=False)
    return w, lambda: b.tensor((1, 1)), b.tensor((3, 4))


def _wrapper_of(a: str, b_: str, *, cls: str = "Tensor") -> Callable[[Builder], Pair]:
    """A wrapper over wrappers, or over tensors of two dtypes."""

    def made(b: Builder) -> Pair:
        def inner() -> dict[str, TensorId]:
            return {
                name: b.tensor((1, 2), cls=cls, dtype=dtype)
                for name, dtype in (("a", a), ("b", b_))
            }

        needs_grad = a.startswith("float")
        w = b.parameter(cls="TwoTensor", inner=inner(), requires_grad=needs_grad)
        return w, lambda: b.tensor(cls="TwoTensor", inner=inner()), b.tensor((3, 4))

    return made


def _other_gradient(cls: str, grad: str) -> Callable[[Builder], Pair]:
    def made(b: Builder) -> Pair:
        w, u = b.parameter((1, 2), cls=cls), b.tensor((3, 4))
        return w, lambda: b.tensor((1, 1), cls=grad), u

    return made


def _storage(length: int) -> Callable[[Builder], Pair]:
    """Two parameters, and a gradient, over parts of one storage."""

    def made(b: Builder) -> Pair:
        u = b.parameter((3, 4))
        w = b.share(b.parameter((1, 2)), u, offset=2 - length, length=length)
        return w, lambda: b.tensor((1, 1)[:length]), u

    return made


def _view(length: int) -> Callable[[Builder], Pair]:
    """A parameter that is a view of another tensor."""

    def made(b: Builder) -> Pair:
        u = b.tensor((3, 4))
        w = b.share(b.tensor(), u, offset=2 - length, length=length)
        return b.mark(b.view(w, u)), lambda: b.tensor((1, 1)[:length]), u

    return made


def _plain(b: Builder) -> Pair:
    w, u = b.tensor((1, 2), requires_grad=True), b.tensor((3, 4))
    return w, lambda: b.tensor((1, 1)), u


def _uninitialized(b: Builder) -> Pair:
    w = b.parameter((), cls="UninitializedParameter")
    return w, lambda: b.tensor(()), b.tensor((3, 4))


KINDS: dict[str, Callable[[Builder], Pair]] = {
    "unregistered": _plain,
    "my-parameter": _of_class("MyParameter"),
    "slotted": _slotted("SlottedParameter"),
    "reordered": _slotted("ReorderedParameter"),
    "narrow": _slotted("NarrowParameter"),
    "slotted-tensor": _slotted("SlottedTensor"),
    "opaque": _wrapper("OpaqueTensor"),
    "unwrapping": _wrapper("UnwrappingTensor"),
    "fixed": _wrapper("FixedTensor"),
    "subclass": _subclass,
    "integers": _integers,
    "frozen": _frozen,
    "nested": _wrapper_of("float32", "float32", cls="TwoTensor"),
    "float-integer": _wrapper_of("float32", "int64"),
    "integer-float": _wrapper_of("int64", "float32"),
    "wrapper-gradient": _other_gradient("Parameter", "TwoTensor"),
    "plain-gradient": _other_gradient("TwoTensor", "Tensor"),
    "one-storage": _storage(2),
    "slice": _storage(1),
    "view": _view(2),
    "view-of-one": _view(1),
    "uninitialized": _uninitialized,
}
"""How a parameter of each kind is made."""


def class_scopes(
    depth: int, kinds: tuple[str, ...] = tuple(KINDS)
) -> tuple[Scope, ...]:
    """
    Every program up to *depth* actions, from a parameter of each kind.

    Beyond two actions, only with one representative of each kind of action.
    """
    return tuple(
        Scope(
            id=f"class-{kind}",
            starts=tuple(_starts(kind)),
            actions=tuple(actions),
            depth=depth,
        )
        for kind in kinds
        for actions in [_actions() if depth <= 2 else _representatives()]
    )


def _starts(kind: str) -> Iterator[tuple[str, Heap]]:
    for start, swap, overwrite in STARTS:
        b = Builder(swap=swap, overwrite=overwrite)
        w, gradient, u = KINDS[kind](b)
        if start != "bare":
            b.gradient(w, gradient())
        b.name("m", "module", b.module({"weight": w}))
        b.name("u", "tensor", u)
        yield start, b.heap()


# -- Actions ---------------------------------------------------------------------------


def _actions() -> Iterator[Action]:
    w, grad, u = "m.weight", "m.weight.grad", "u"
    for dtype in ("float32", "float64"):
        yield Convert("m", Cast(dtype))
    for t1, t2 in ((w, u), (u, w), (w, w), (w, "y"), (grad, u)):
        yield SwapTensors(t1, t2)
    for t, source in ((w, u), (u, w), (w, "y"), (grad, u), (u, grad), (w, "v")):
        yield SetData(t, source)
    for t in (w, u, grad, f"{w}.b"):
        yield CastData(t, "float64")
    for t in (w, u):
        yield FillGrad(t)
    yield ClearGrad(w)
    for function, t in (("scale", w), ("square", w), ("scale", u), ("square", u)):
        yield Forward(function, t, "y")  # type: ignore[arg-type]
    yield Forward("square", "y", "z")
    for t in (w, "y", "z", "v"):
        yield Backward(t)
    for t in (w, u, "y", f"{w}.a"):
        yield View(t, "v")
    for kind, t in (("ReferenceType", w), ("_WeakTensorRef", u)):
        yield TakeWeakref(kind, t, "r")  # type: ignore[arg-type]
    for t, label in ((w, "h"), ("y", "k")):
        yield RegisterHook(t, label)
    for t in (w, u):
        yield from (SetAttribute(t, "tag"), SetAttribute(t, "x", 4))
    yield Convert("m", Identity())
    yield from (SetAttribute(w, one) for one in TRACEABLE)


def _representatives() -> Iterator[Action]:
    w, u = "m.weight", "u"
    yield Convert("m", Cast("float64"))
    yield SwapTensors(w, u)
    yield SetData(w, u)
    yield CastData(w, "float64")
    yield FillGrad(w)
    yield Forward("square", w, "y")
    yield Backward("y")
    yield View(w, "v")
    yield SetAttribute(w, "x", 4)
