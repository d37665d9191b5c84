"""Complex dtypes hold what others hold, as in torch."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.actions import (  # noqa: E402
    Backward,
    CastData,
    Convert,
    Forward,
    MakeOptimizer,
    OptimizerStep,
    Product,
    Program,
    SwapTensors,
    Write,
)
from swapmodel.conformance.lockstep import compare  # noqa: E402
from swapmodel.conversions import Cast, ScaleInPlace, To, Type  # noqa: E402
from swapmodel.outcomes import Done, Outcome, OutOfScope, Refused  # noqa: E402
from swapmodel.state.build import Builder  # noqa: E402
from swapmodel.state.heap import Heap  # noqa: E402
from tests.heaps import NEW, spec  # noqa: E402

pytestmark = pytest.mark.torch


def start() -> Heap:
    """A complex parameter with a gradient, a complex wrapper, a real one, a buffer."""
    build = Builder()
    w = build.parameter(dtype="complex64")
    build.gradient(w, build.tensor((3, 1), dtype="complex64"))
    v = build.parameter(cls="TwoTensor", dtype="complex64")
    real, buffer = build.parameter((5, 6)), build.tensor((1, 3), dtype="complex128")
    held = {"w": w, "v": v, "real": real}
    build.name("m", "module", build.module(held, buffers={"k": buffer}))
    build.name("q", "tensor", build.parameter((4, 5), dtype="complex64"))
    return build.heap()


SQUARE = Forward("square", "m.w", "y")


@pytest.mark.parametrize(
    ("program", "last"),
    [
        ((Convert("m", Cast("float64")),), Done),
        ((Convert("m", To("complex128")),), Done),
        ((Convert("m", To("float32")),), Done),
        ((Convert("m", Type("complex64")), Write("m.real")), Done),
        ((Convert("m", ScaleInPlace()), Write("m.v"), Write("m.k")), Done),
        ((SQUARE, Backward("y")), Done),
        ((SQUARE, Convert("m", Cast("float64")), Backward("y")), Done),
        ((SQUARE, Convert("m", Type("float16")), Backward("y")), Refused),
        ((SQUARE, CastData("m.w", "complex128"), Backward("y")), Done),
        ((Product("m.w", "m.w", "y"), Backward("y"), SwapTensors("m.w", "q")), Done),
        ((Product("m.w", "m.real", "y"),), OutOfScope),
        ((Forward("relu", "m.w", "y"),), OutOfScope),
        ((MakeOptimizer("SGD", "m", "o"), OptimizerStep("o")), Done),
    ],
    ids=repr,
)
def test_in_both_worlds(program: Program, last: type[Outcome]) -> None:
    """Values are compared, refusals with their texts; two things are declined."""
    found = compare(start(), program, spec(NEW))

    assert found.divergence is None
    assert type(found.last) is last
