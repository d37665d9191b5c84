"""
Where do programs at random start?  Larger heaps, which together hold everything.

Every class of tensors, ties, buffers, children, an `RNNBase`, and both switches; weak
references and optimizers are for the programs to make.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from swapmodel.conformance.starts_of_classes import KINDS
from swapmodel.state.build import NN_BUFFER, Builder
from swapmodel.state.classes import RNN
from swapmodel.state.heap import Heap

Starts = tuple[tuple[str, Heap], ...]

FLAGS = (False, True)

APART = 7
"""How far the two kinds of parameters of one heap are apart in the list of all."""

NOT_STARTED: dict[str, str] = {
    "FakeTensor": "what it does depends on the history of its mode; nothing is compared"
}
"""The classes that no heap holds, and why."""


def starts_at_random() -> Starts:
    """Every heap, with each setting of the two switches."""
    return tuple(_starts())


def _starts() -> Iterator[tuple[str, Heap]]:
    for swap, overwrite in product(FLAGS, FLAGS):
        flags = f"{'-swap' * swap}{'-overwrite' * overwrite}"
        for kind in KINDS:
            b = Builder(swap=swap, overwrite=overwrite)
            _fill(b, kind)
            yield f"{kind}{flags}", b.heap()
        for cls, device in (
            ("Parameter", "cpu"),
            ("TwoTensor", "cpu"),
            ("Parameter", "meta"),
            ("TwoTensor", "meta"),
        ):
            b = Builder(swap=swap, overwrite=overwrite)
            _fill_rnn(b, cls, device)
            yield f"{RNN.name}-{cls}-{device}{flags}", b.heap()


def _fill(b: Builder, kind: str) -> None:
    """Two kinds of parameters, one of them tied, and buffers of every kind."""
    kinds = list(KINDS)
    w, gradient, u = KINDS[kind](b)
    b.gradient(w, gradient())
    c, _, other = KINDS[kinds[(kinds.index(kind) + APART) % len(kinds)]](b)
    running, marked = b.tensor((5, 6)), b.tensor((7, 0), attributes=NN_BUFFER)
    held = {"running": running, "same": running, "again": w, "gone": None}
    child = b.module({"weight": c, "tied": w}, buffers={"marked": marked})
    bias = b.parameter((0, 7))
    listed = {"weight": w, "bias": bias, "gone": None}
    b.name("m", "module", b.module(listed, buffers=held, children={"child": child}))
    b.name("p", "tensor", b.parameter((3, 5), attributes={"tag": 2}))
    b.name("q", "tensor", other)
    b.name("u", "tensor", u)


def _fill_rnn(b: Builder, cls: str, device: str) -> None:
    """An `RNN` inside a module that has one of its weights and a buffer as well."""

    def values(*ones: int) -> tuple[int, ...] | None:
        return None if device == "meta" else ones

    first, second = (
        b.parameter(values(*ones), cls=cls, device=device) for ones in ((1, 2), (3, 4))
    )
    inner = "Tensor" if cls == "Parameter" else cls
    b.gradient(first, b.tensor(values(1, 1), cls=inner, device=device))
    rnn = b.module(
        dict(zip(RNN.flat_weights, (first, second), strict=True)), cls=RNN.name
    )
    running = b.tensor(values(5, 6), device=device)
    m = b.module({"tied": first}, buffers={"running": running}, children={"rnn": rnn})
    b.name("m", "module", m)
    b.name("p", "tensor", b.parameter(values(5, 6), cls=cls, device=device))
    b.name("u", "tensor", b.tensor((2, 2)))
