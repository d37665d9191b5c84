"""Optimizers: what they refer to, and what steps do to that."""

import pytest

from swapmodel.actions import (
    Action,
    Cast,
    Convert,
    Drop,
    MakeOptimizer,
    OptimizerStep,
    View,
    ZeroGrad,
)
from swapmodel.outcomes import OutOfScope
from swapmodel.semantics.places import resolve
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from swapmodel.state.optimizers import OptimizerKind
from tests.heaps import NEW, at, done, module, refused, spec, values

STEP, DOUBLE = OptimizerStep("o"), Convert("m", Cast("float64"))
P, BUFFER = "o.param_groups[0][0]", "o.state[0].momentum_buffer"


def made(kind: OptimizerKind = "SGD", cls: str = "Parameter") -> Heap:
    """A module with a gradient of ones, and an optimizer of it."""
    return done(module(cls), MakeOptimizer(kind, "m", "o"))


def declines(heap: Heap, *program: Action) -> None:
    """The last action of a program is out of scope."""
    heap = done(heap, *program[:-1])
    assert isinstance(step(heap, program[-1], spec(NEW)), OutOfScope)


def test_references_and_no_owners() -> None:
    """It holds Python objects, each once, which live as long as it does."""
    heap = done(made(), Drop("m"))

    assert heap.optimizers[0].parameters == (at(heap, P),)
    assert not any(done(heap, Drop("o")).optimizers)
    assert resolve(heap, "o.param_groups[0][1]") is None


def test_what_cannot_be_optimized() -> None:
    """No parameters, or one that a graph computed."""
    b = Builder()
    b.name("m", "module", b.module())
    make = MakeOptimizer("SGD", "m", "o")

    assert refused(b.heap(), make).rule == "optimizer/empty"
    b = Builder()
    b.name("m", "module", b.module({"x": b.tensor(requires_grad=True)}))
    heap = done(b.heap(), MakeOptimizer("SGD", "m", "o"))
    assert len(heap.optimizers[0].parameters) == 1


def test_shared_children_count_once() -> None:
    """A tensor or a module that stands twice gives one parameter."""
    b = Builder()
    w = b.parameter()
    child = b.module({"weight": w})
    children = {"one": child, "two": child}
    b.name("m", "module", b.module({"tied": w}, children=children))
    heap = done(b.heap(), MakeOptimizer("SGD", "m", "o"))

    assert heap.optimizers[0].parameters == (w,)


@pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])
def test_momentum_adds_up(cls: str) -> None:
    """The buffer is the first gradient and then the sum; the writes are counted."""
    heap = done(made("SGD-momentum", cls), STEP, STEP)
    inner = ".a" if cls == "TwoTensor" else ""

    assert values(heap, f"m.weight{inner}") == (6, 7)
    assert values(heap, f"{BUFFER}{inner}") == (2, 2)
    assert heap.version(heap.impl_of(at(heap, "m.weight")).counter) == 2
    assert heap.version(heap.impl_of(at(heap, BUFFER)).counter) == 2


def test_adam_leaves_values_open() -> None:
    """Counters are exact, averages and parameters are not told."""
    heap = done(made("Adam"), STEP, STEP)

    assert values(heap, "o.state[0].step") == (2,)
    assert values(heap, "m.weight") is None
    assert values(heap, "o.state[0].exp_avg") is None


def test_adam_of_a_wrapper() -> None:
    """Its averages are wrappers too; of another dtype the model declines."""
    heap = done(made("Adam", "TwoTensor"), STEP)

    assert values(heap, "o.state[0].exp_avg.b") is None
    declines(heap, DOUBLE, STEP)


def test_adam_refuses_after_a_cast() -> None:
    """The counter has counted by then."""
    heap = refused(done(made("Adam"), STEP, DOUBLE), STEP)

    assert heap.rule == "optimizer/state-dtype"
    assert values(heap.heap, "o.state[0].step") == (2,)


def test_zero_grad() -> None:
    """Takes the gradients away, or writes zeros into them."""
    heap = made()

    assert resolve(done(heap, ZeroGrad("o")), "m.weight.grad") is None
    assert values(done(heap, ZeroGrad("o", False)), "m.weight.grad") == (0, 0)
    assert done(heap, ZeroGrad("o"), ZeroGrad("o"), STEP)


def test_what_the_arithmetic_does_not_cover() -> None:
    """A view of what is written."""
    declines(made(), View("m.weight", "v"), STEP)
