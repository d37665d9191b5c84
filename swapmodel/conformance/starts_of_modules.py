"""
Where do programs start that are about modules, and what may they do?

Ties within and across modules, shared children, buffers of every kind, what was put
among the parameters by hand, and an `RNNBase`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from swapmodel.conformance import about_modules, starts_of_classes
from swapmodel.conformance.about_modules import H, W
from swapmodel.search.scope import Scope
from swapmodel.state.build import NN_BUFFER, Builder
from swapmodel.state.heap import Heap

CLASSES = ("Parameter", "TwoTensor")
FLAGS: tuple[dict[str, bool], ...] = ({}, {"swap": True}, {"overwrite": True})


def scopes() -> tuple[Scope, ...]:
    """Every program of two actions about modules, and of three representatives."""
    return (*module_scopes(2), *module_scopes(3))


def module_scopes(depth: int) -> tuple[Scope, ...]:
    """Every program up to *depth* actions; beyond two, only of representatives."""
    kinds = {
        "tied": (_starts(_tied), about_modules.about_ties()),
        "buffers": (_starts(_buffers), about_modules.about_buffers()),
        "by-hand": (_starts(_by_hand), about_modules.about_by_hand()),
        "rnn": (_starts(_rnn), about_modules.about_rnns()),
        "copies": (_of_every_class(), about_modules.about_copies()),
    }
    return tuple(
        Scope(
            id=f"modules-{name}",
            starts=tuple(starts),
            actions=tuple(
                actions if depth <= 2 else about_modules.REPRESENTATIVES[name]
            ),
            depth=depth,
        )
        for name, (starts, actions) in kinds.items()
        if depth <= 2 or name in about_modules.REPRESENTATIVES
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


def _of_every_class() -> Iterator[tuple[str, Heap]]:
    """A parameter of every kind, which is a buffer too, with its gradient."""
    for kind, make in starts_of_classes.KINDS.items():
        b = Builder()
        w, gradient, u = make(b)
        b.gradient(w, gradient())
        b.name("m", "module", b.module({"weight": w}, buffers={"same": w, "u": u}))
        b.name("u", "tensor", u)
        yield kind, b.heap()
