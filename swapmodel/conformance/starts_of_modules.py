"""
Where do programs start that are about modules, and what may they do?

Ties within and across modules, shared children, buffers of every kind, what was put
among the parameters by hand, and an `RNNBase`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from swapmodel.actions import (
    Action,
    Cast,
    CastData,
    Convert,
    Deepcopy,
    DeepcopyModule,
    Drop,
    FillGrad,
    Forward,
    NameTensor,
    Register,
    SetAttribute,
    SetData,
    SetFlag,
    SwapTensors,
    TakeWeakref,
    Tie,
    Unregister,
    View,
)
from swapmodel.search.scope import Scope
from swapmodel.state.build import NN_BUFFER, Builder
from swapmodel.state.heap import Heap

CLASSES = ("Parameter", "TwoTensor")
FLAGS: tuple[dict[str, bool], ...] = ({}, {"swap": True}, {"overwrite": True})
HALF, FLOAT, DOUBLE = Cast("float16"), Cast("float32"), Cast("float64")
W, H = "weight_ih_l0", "weight_hh_l0"
"""The weights of an `RNN` without biases."""


def module_scopes(depth: int) -> tuple[Scope, ...]:
    """Every program about modules up to *depth* actions, or shorter ones of some."""
    kinds = {
        "tied": (_tied, _about_ties()),
        "buffers": (_buffers, _about_buffers()),
        "by-hand": (_by_hand, _about_by_hand()),
        "rnn": (_rnn, _about_rnns()),
    }
    return tuple(
        Scope(
            id=f"modules-{name}",
            starts=tuple(_starts(fill)),
            actions=tuple(about),
            depth=depth,
        )
        for name, (fill, about) in kinds.items()
    )


def _starts(fill) -> Iterator[tuple[str, Heap]]:  # type: ignore[no-untyped-def]
    for cls, flags in product(CLASSES, FLAGS):
        b = Builder(**flags)
        fill(b, cls)
        yield "-".join([cls, *flags]), b.heap()


# -- Start heaps -------------------------------------------------------------------


def _tied(b: Builder, cls: str) -> None:
    """A module and a child under two parents, one of which names it twice."""
    w = b.parameter((1, 2), cls=cls)
    b.gradient(w, b.tensor((1, 1), cls="Tensor" if cls == "Parameter" else cls))
    child = b.module({"weight": b.parameter((3, 4)), "tied": w, "gone": None})
    left = b.module({"one": w}, children={"a": child, "b": child})
    right = b.module(children={"c": child})
    b.name("m", "module", b.module({"two": w}, children={"x": left, "y": right}))
    b.name("n", "module", right)
    b.name("u", "tensor", b.tensor((5, 6)))


def _buffers(b: Builder, cls: str) -> None:
    """Buffers of every kind, beside a parameter that is one too."""
    w = b.parameter((1, 2), cls=cls)
    running, marked = b.tensor((3, 4)), b.tensor((5, 6), attributes=NN_BUFFER)
    frozen = b.parameter((7, 0), cls=cls, requires_grad=False)
    held = {"running": running, "again": running, "gone": None, "marked": marked}
    held |= {"frozen": frozen}
    child = b.module(buffers={"same": running})
    b.name(
        "m",
        "module",
        b.module({"weight": w, "cold": frozen}, buffers=held, children={"c": child}),
    )
    b.name("u", "tensor", b.tensor((2, 2), attributes=NN_BUFFER))


def _by_hand(b: Builder, cls: str) -> None:
    """Tensors among the parameters that are none."""
    w, plain = b.parameter((1, 2), cls=cls), b.tensor((3, 4), requires_grad=True)
    b.gradient(plain, b.tensor((1, 1)))
    held = {"weight": w, "plain": plain, "gone": None}
    b.name("m", "module", b.module(held, buffers={"running": b.tensor((5, 6))}))
    b.name("u", "tensor", b.tensor((2, 2)))


def _rnn(b: Builder, cls: str) -> None:
    """An `RNN` inside a module."""
    weights = {W: b.parameter((1, 2), cls=cls), H: b.parameter((3, 4), cls=cls)}
    rnn = b.module(weights, cls="RNN")
    b.name("m", "module", b.module(children={"rnn": rnn}))
    b.name("n", "module", rnn)
    b.name("p", "tensor", b.parameter((5, 6), cls=cls))
    b.name("u", "tensor", b.tensor((2, 2)))


# -- Actions -----------------------------------------------------------------------


def _flags() -> Iterator[Action]:
    for flag, value in product(("swap", "overwrite"), (False, True)):
        yield SetFlag(flag, value)  # type: ignore[arg-type]


def _about_ties() -> Iterator[Action]:
    yield from (
        Convert(m, fn) for m in ("m", "m.x", "n", "m.x.a") for fn in (FLOAT, DOUBLE)
    )
    for m, key, t in (
        ("m", "two", "n.c.weight"),
        ("m.x.a", "gone", "m.two"),
        ("n.c", "weight", "m.two"),
        ("m", "x", "m.two"),
        ("m", "new", "m.two"),
        ("n", "c", "u"),
    ):
        yield Tie(m, key, t)
    yield Register("n", "new", "m.two")
    for m, key in (("m", "two"), ("n", "c"), ("m.x.b", "tied"), ("m", "nothing")):
        yield Unregister(m, key)
    for m in ("m", "n"):
        yield DeepcopyModule(m, "d")
    yield Convert("d", DOUBLE)
    yield from (Deepcopy("m.two", "q"), Deepcopy("y", "q"), NameTensor("m.two", "w"))
    yield from (
        Drop("n"),
        Drop("m"),
        Forward("square", "m.two", "y"),
        CastData("m.two", "float64"),
    )
    yield from (
        TakeWeakref("ReferenceType", "m.two", "r"),
        SetAttribute("m.two", "tag"),
    )
    yield from (SwapTensors("m.two", "n.c.weight"), SwapTensors("m.two", "q"))
    yield from _flags()


def _about_buffers() -> Iterator[Action]:
    for m, fn in product(("m", "m.c"), (FLOAT, DOUBLE)):
        yield Convert(m, fn)
    for kind in ("parameter", "buffer", "by hand"):
        for key, t in (
            ("running", "u"),
            ("weight", "m.running"),
            ("new", "m.weight"),
            ("c", "u"),
        ):
            yield Register("m", key, t, kind)
    for key, t in (
        ("running", "u"),
        ("marked", "m.running"),
        ("weight", "m.marked"),
        ("marked", "m.weight"),
        ("c", "u"),
        ("new", "u"),
        ("new", "m.running"),
        ("gone", "y"),
    ):
        yield Tie("m", key, t)
    for key in ("running", "weight", "frozen", "c", "gone"):
        yield Unregister("m", key)
    yield from (DeepcopyModule("m", "d"), Convert("d", DOUBLE))
    for t in ("m.marked", "m.frozen", "y", "u", "v"):
        yield Deepcopy(t, "q")
    yield from (Forward("scale", "m.weight", "y"), View("m.running", "v"), Drop("y"))
    yield from (SetData("m.running", "v"), CastData("m.running", "float64"))
    yield from (
        FillGrad("m.frozen"),
        FillGrad("m.running"),
        CastData("m.weight", "float64"),
    )
    yield from (SetAttribute("m.marked", "tag"), SetData("m.weight", "u"))
    yield from _flags()


def _about_by_hand() -> Iterator[Action]:
    yield from (Convert("m", fn) for fn in (HALF, FLOAT, DOUBLE))
    for key, t in (
        ("plain", "y"),
        ("weight", "u"),
        ("new", "y"),
        ("running", "y"),
        ("gone", "u"),
    ):
        yield Register("m", key, t, "by hand")
    for key, t in (
        ("plain", "u"),
        ("plain", "m.weight"),
        ("weight", "y"),
        ("running", "m.plain"),
    ):
        yield Tie("m", key, t)
    yield from (Register("m", "gone", "m.plain"), Register("m", "gone", "y"))
    yield from (Forward("scale", "m.weight", "y"), Forward("square", "m.plain", "y"))
    yield from (SwapTensors("m.plain", "m.weight"), SwapTensors("m.weight", "y"))
    yield from (DeepcopyModule("m", "d"), Deepcopy("m.plain", "q"), Drop("y"))
    yield from (
        TakeWeakref("_WeakTensorRef", "m.weight", "r"),
        Deepcopy("m.weight", "q"),
    )
    yield from (
        SwapTensors("m.weight", "u"),
        FillGrad("m.plain"),
        Unregister("m", "plain"),
    )
    yield from (CastData("m.plain.grad", "float64"), SetData("m.plain", "m.weight"))
    yield from _flags()


def _about_rnns() -> Iterator[Action]:
    yield from (Convert(m, fn) for m in ("m", "n") for fn in (FLOAT, DOUBLE))
    for key, t in ((W, "p"), (W, "u"), (H, f"n.{W}"), ("new", "p"), (W, f"n.{H}")):
        yield Tie("n", key, t)
    for key, t, kind in (
        (W, "p", "parameter"),
        (W, "u", "by hand"),
        (W, "p", "by hand"),
    ):
        yield Register("n", key, t, kind)  # type: ignore[arg-type]
    for key in (W, H):
        yield Unregister("n", key)
    yield from (
        DeepcopyModule("m", "d"),
        DeepcopyModule("n", "d"),
        Convert("d", DOUBLE),
    )
    for t in (f"n.{W}", f"n.{H}", "n._flat_weights[0]"):
        yield Forward("square", t, "y")
    for t, name in ((f"n.{H}", "r"), ("n._flat_weights[0]", "r"), (f"n.{W}", "s")):
        yield TakeWeakref("ReferenceType", t, name)
    yield from (Drop("y"), Drop("r"), Drop("n"), Drop("p"), NameTensor(f"n.{W}", "w"))
    yield from (SwapTensors(f"n.{W}", "p"), SwapTensors("p", "n._flat_weights[0]"))
    yield from (
        TakeWeakref("_WeakTensorRef", f"n.{H}", "r"),
        CastData(f"n.{W}", "float64"),
    )
    yield from (
        FillGrad(f"n.{H}"),
        View(f"n.{H}", "v"),
        Deepcopy("n._flat_weights[0]", "q"),
    )
    yield from _flags()
