"""
What may programs do that are about modules?
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
from swapmodel.conversions import ScaleInPlace

HALF, FLOAT, DOUBLE = Cast("float16"), Cast("float32"), Cast("float64")
W, H = "weight_ih_l0", "weight_hh_l0"
"""The weights of an `RNN` without biases."""


def _flags() -> Iterator[Action]:
    for flag, value in product(("swap", "overwrite"), (False, True)):
        yield SetFlag(flag, value)  # type: ignore[arg-type]


def about_ties() -> Iterator[Action]:
    """What ties, unties, converts and copies a tied parameter."""
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
    for m in ("m", "m.x", "n"):
        yield Convert(m, ScaleInPlace())
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


def about_buffers() -> Iterator[Action]:
    """What registers, replaces, converts and copies buffers."""
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
        ("gone", "y"),
    ):
        yield Tie("m", key, t)
    for key in ("running", "weight", "frozen", "c", "gone", "new"):
        yield Unregister("m", key)
    yield from (View("m.weight", "x"), Register("m", "new", "x", "buffer"))
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


def about_by_hand() -> Iterator[Action]:
    """What is done with tensors that were put in by hand."""
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


def about_rnns() -> Iterator[Action]:
    """What an RNN's weights go through."""
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


def about_copies() -> Iterator[Action]:
    """What is copied and registered, of every class."""
    w, u, grad = "m.weight", "u", "m.weight.grad"
    for t in (w, u, grad, "y", "v"):
        yield Deepcopy(t, "q")
    yield from (DeepcopyModule("m", "d"), Convert("d", DOUBLE), Convert("m", DOUBLE))
    for key, t in (("new", w), ("weight", u), ("same", u), ("u", w), ("weight", "y")):
        yield Tie("m", key, t)
    for kind in ("parameter", "buffer", "by hand"):
        yield Register("m", "new", w, kind)
    yield from (Register("m", "new", u), Register("m", "new", "y"), NameTensor(w, "n"))
    yield from (SwapTensors(w, u), SetData(w, u), SetData(u, w), CastData(w, "float64"))
    yield from (View(w, "v"), Forward("scale", w, "y"), SetAttribute(w, "tag"))
    yield from (CastData(u, "float64"), FillGrad(u), SetAttribute(u, "x", 4))


REPRESENTATIVES: dict[str, tuple[Action, ...]] = {
    "tied": (
        Convert("m", DOUBLE),
        Convert("n", DOUBLE),
        Convert("m", ScaleInPlace()),
        Tie("n.c", "weight", "m.two"),
        Unregister("m", "two"),
        DeepcopyModule("m", "d"),
        NameTensor("m.two", "w"),
        Forward("square", "m.two", "y"),
        SetFlag("overwrite"),
        SetFlag("swap"),
    ),
    "buffers": (
        Convert("m", DOUBLE),
        Register("m", "running", "m.weight", "by hand"),
        Tie("m", "running", "u"),
        Tie("m", "marked", "m.weight"),
        Unregister("m", "weight"),
        DeepcopyModule("m", "d"),
        Deepcopy("m.marked", "q"),
        View("m.running", "v"),
        SetFlag("overwrite"),
    ),
    "by-hand": (
        Convert("m", DOUBLE),
        Register("m", "weight", "y", "by hand"),
        Tie("m", "plain", "m.weight"),
        SwapTensors("m.weight", "m.plain"),
        DeepcopyModule("m", "d"),
        Forward("scale", "m.weight", "y"),
        TakeWeakref("ReferenceType", "m.plain", "r"),
        SetFlag("swap"),
    ),
    "rnn": (
        Convert("m", DOUBLE),
        Tie("n", W, "p"),
        Tie("n", W, "u"),
        Register("n", H, "u", "by hand"),
        Unregister("n", H),
        DeepcopyModule("m", "d"),
        Convert("d", FLOAT),
        Forward("square", f"n.{H}", "y"),
        TakeWeakref("ReferenceType", f"n.{W}", "r"),
        Drop("y"),
        SetFlag("swap"),
    ),
}
"""One action of each kind that is about modules, and what they work on."""
