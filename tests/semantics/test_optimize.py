"""Optimizers: what they refer to, and what steps do to that."""

import pytest

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    Convert,
    Drop,
    Forward,
    MakeOptimizer,
    OptimizerStep,
    Register,
    RequiresGrad,
    RetainGrad,
    SetGrad,
    View,
    ZeroGrad,
)
from swapmodel.outcomes import OutOfScope
from swapmodel.semantics.places import resolve
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from swapmodel.state.optimizers import OptimizerKind
from tests.heaps import NEW, at, done, module, refused, spec, values, with_row

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


def test_parameters_that_cannot_be_optimized() -> None:
    """A view put there by hand is no leaf; an uninitialized one is declined."""
    heap = done(module(), View("p", "v"), Register("m", "v", "v", "by hand"))
    make = MakeOptimizer("SGD", "m", "o")

    assert refused(heap, make).rule == "optimizer/non-leaf"
    b = Builder()
    w = b.parameter(None, cls="UninitializedParameter")
    b.name("m", "module", b.module({"weight": w}))
    declines(b.heap(), make)


def test_what_retains_its_gradient_can_be_optimized() -> None:
    """It has a gradient to step by, though it is no leaf."""
    program: tuple[Action, ...] = (
        Forward("scale", "p", "y"),
        RetainGrad("y"),
        Register("m", "y", "y", "by hand"),
        MakeOptimizer("SGD", "m", "o"),
        Backward("y"),
    )
    heap = done(module(grad=False), *program)

    assert heap.optimizers[0].parameters == (at(heap, "m.weight"), at(heap, "y"))
    assert values(done(heap, STEP), "y") == (0, 3)


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


def test_zero_grad() -> None:
    """Takes the gradients away, or writes zeros into them."""
    heap = made()

    assert resolve(done(heap, ZeroGrad("o")), "m.weight.grad") is None
    assert values(done(heap, ZeroGrad("o", False)), "m.weight.grad") == (0, 0)
    assert done(heap, ZeroGrad("o"), ZeroGrad("o"), STEP)


def test_what_the_arithmetic_does_not_cover() -> None:
    """Views, other classes and dtypes, sizes, devices without memory."""
    declines(made(), View("m.weight", "v"), STEP)
    short = with_row(made(), "impls", grad_impl(made()), length=1)
    for heap in (
        short,
        with_row(made(), "impls", grad_impl(made()), device="meta"),
        with_row(made(), "impls", grad_impl(made()), dtype="int64"),
        with_row(made(), "impls", grad_impl(made()), python_key=True),
    ):
        declines(heap, STEP)


def grad_impl(heap: Heap) -> int:
    """Where the impl of the gradient stands."""
    return heap.tensor(at(heap, "m.weight.grad")).impl


@pytest.mark.parametrize("kind", ["SGD", "SGD-momentum", "Adam"])
def test_what_cannot_be_read_stops_a_step(kind: OptimizerKind) -> None:
    """A torn gradient is refused, wherever the step comes to it."""
    heap = made(kind, "TwoTensor")
    torn = with_row(heap, "tensors", at(heap, "m.weight.grad"), cls="Tensor")

    assert refused(torn, STEP).rule == "dispatch/no-handler"
    assert refused(torn, ZeroGrad("o", False)).rule == "dispatch/no-handler"
    torn = with_row(heap, "tensors", at(heap, "m.weight"), cls="Tensor")
    assert refused(torn, STEP).rule == "dispatch/no-handler"


def test_a_buffer_is_scaled_before_the_gradient_is_added() -> None:
    """A torn gradient is refused after the first of two writes."""
    heap = done(made("SGD-momentum", "TwoTensor"), STEP)
    torn = with_row(heap, "tensors", at(heap, "m.weight.grad"), cls="Tensor")
    outcome = refused(torn, STEP)
    buffer = outcome.heap.impl_of(at(outcome.heap, BUFFER))

    assert outcome.rule == "dispatch/no-handler"
    assert outcome.heap.version(buffer.counter) == 1


def test_a_torn_buffer() -> None:
    """It is refused where it is scaled."""
    heap = done(made("SGD-momentum", "TwoTensor"), STEP)
    torn = with_row(heap, "tensors", at(heap, BUFFER), cls="Tensor")

    assert refused(torn, STEP).rule == "dispatch/no-handler"


def test_each_parameter_has_state_of_its_own() -> None:
    """The buffers of two parameters add up apart."""
    b = Builder()
    one, two = b.parameter(), b.parameter((3, 4))
    b.gradient(one, b.tensor((1, 1)))
    b.gradient(two, b.tensor((2, 2)))
    b.name("m", "module", b.module({"one": one, "two": two}))
    heap = done(b.heap(), MakeOptimizer("SGD-momentum", "m", "o"), STEP, STEP)

    assert values(heap, "o.state[0].momentum_buffer") == (2, 2)
    assert values(heap, "o.state[1].momentum_buffer") == (4, 4)
    assert values(heap, "m.two") == (5, 6)


def test_a_gradient_in_a_graph() -> None:
    """Zeroing one that is a view is declined; one that requires grad is left alone."""
    heap = done(made(), RequiresGrad("m.weight.grad", True))

    zeroed = done(heap, ZeroGrad("o", False))
    assert not zeroed.meta_of(at(zeroed, "m.weight.grad")).requires_grad
    view = done(module(grad=False), View("t", "v"), SetGrad("m.weight", "v"))
    declines(view, MakeOptimizer("SGD", "m", "o"), ZeroGrad("o", False))
