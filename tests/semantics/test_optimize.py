"""Optimizers: what they refer to, and what steps do to that."""

import pytest

from swapmodel.actions import (
    Action,
    AddParamGroup,
    Cast,
    CastData,
    Convert,
    MakeOptimizer,
    OptimizerStep,
    RequiresGrad,
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
P, BUFFER = "o.param_groups[0][0]", "o.state[0][0].momentum_buffer"


def made(kind: OptimizerKind = "SGD", cls: str = "Parameter") -> Heap:
    """A module with a gradient of ones, and an optimizer of it."""
    return done(module(cls), MakeOptimizer(kind, "m", "o"))


def declines(heap: Heap, *program: Action) -> None:
    """The last action of a program is out of scope."""
    heap = done(heap, *program[:-1])
    assert isinstance(step(heap, program[-1], spec(NEW)), OutOfScope)


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


def test_sizes_and_devices() -> None:
    """One element is spread over two; another device is declined."""
    short = with_row(made(), "impls", grad_impl(made()), length=1)
    assert values(done(short, STEP), "m.weight") == (0, 1)
    long = with_row(
        made(), "impls", made().tensor(at(made(), "m.weight")).impl, length=1
    )
    assert refused(long, STEP).rule == "add/size"
    none = with_row(made(), "impls", grad_impl(made()), length=0)
    assert refused(none, STEP).rule == "forward/size"
    declines(with_row(made(), "impls", grad_impl(made()), device="meta"), STEP)


def test_a_step_on_meta() -> None:
    """It is taken, nobody asks for dtypes, and sizes that differ are declined."""
    b = Builder()
    w = b.parameter(None, device="meta", dtype="int64", requires_grad=False)
    b.gradient(w, b.tensor(None, device="meta", dtype="int64"))
    b.name("m", "module", b.module({"weight": w}))
    heap = done(b.heap(), MakeOptimizer("SGD-momentum", "m", "o"), STEP, STEP)

    assert heap.version(heap.impl_of(at(heap, "m.weight")).counter) == 2
    impl = heap.tensor(at(heap, "m.weight")).impl
    declines(with_row(heap, "impls", impl, length=1), STEP)


def test_integers() -> None:
    """They cannot be scaled by the learning rate, nor a buffer by its momentum."""
    b = Builder()
    w = b.parameter(dtype="int64", requires_grad=False)
    b.gradient(w, b.tensor((1, 1), dtype="int64"))
    b.name("m", "module", b.module({"weight": w}))
    for kind in ("SGD", "SGD-momentum"):
        heap = done(b.heap(), MakeOptimizer(kind, "m", "o"))
        assert refused(heap, STEP).rule == "add/alpha"
    impl = made().tensor(at(made(), "m.weight")).impl
    assert (
        refused(with_row(made(), "impls", impl, dtype="int64"), STEP).rule
        == "add/dtype"
    )
    momentum = done(made("SGD-momentum"), CastData("m.weight.grad", "int64"), STEP)
    outcome = refused(momentum, STEP)
    assert outcome.rule == "add/dtype"
    assert outcome.refusal.facts == (("dtype", "float32"), ("expected", "int64"))


def test_a_step_writes_under_a_view() -> None:
    """The view sees the write and its version."""
    heap = done(made(), View("m.weight", "v", grad_mode=False), STEP)

    assert values(heap, "v") == values(heap, "m.weight") == (0, 1)


def test_wrappers_and_plain_tensors() -> None:
    """A wrapper takes a plain gradient twice, a plain tensor both parts of one."""
    heap = done(made("SGD", "TwoTensor"), SetGrad("m.weight", "t"), STEP)
    assert values(heap, "m.weight.a") == values(heap, "m.weight.b") == (4, 4)
    b = Builder()
    w = b.parameter((1, 2))
    b.gradient(w, b.tensor((1, 3), cls="TwoTensor"))
    b.name("m", "module", b.module({"weight": w}))
    heap = done(b.heap(), MakeOptimizer("SGD", "m", "o"), STEP)
    assert values(heap, "m.weight") == (7, 4)


def test_the_class_of_a_buffer() -> None:
    """A class can convert it, or unwrap it when it is detached."""
    heap = done(made("SGD-momentum", "SubTensor"), STEP)
    assert heap.tensor(at(heap, BUFFER)).cls == "SubTensor"
    heap = done(made("SGD-momentum", "UnwrappingTensor"), STEP)
    assert heap.tensor(at(heap, BUFFER)).cls == "Tensor"


@pytest.mark.parametrize("kind", ["SGD", "SGD-momentum"])
def test_a_lazy_gradient(kind: OptimizerKind) -> None:
    """No method of it can be called, be it to copy it, to add it or to clear it."""
    heap = made(kind)
    t = at(heap, "m.weight.grad")
    heap = with_row(heap, "tensors", t, cls="UninitializedParameter")

    assert refused(heap, STEP).rule == "class/uninitialized"
    assert refused(heap, ZeroGrad("o", False)).rule == "class/uninitialized"


def test_a_group_that_is_refused_keeps_the_steps_before_it() -> None:
    """What the first group has made is kept, what the second one has made is not."""
    b = Builder()
    one, two = (
        b.parameter((1, 2)),
        b.parameter((3, 4), dtype="int64", requires_grad=False),
    )
    b.gradient(one, b.tensor((1, 1)))
    b.gradient(two, b.tensor((1, 1), dtype="int64"))
    b.name("m", "module", b.module({"one": one}))
    b.name("n", "module", b.module({"one": two}))
    heap = done(
        b.heap(), MakeOptimizer("SGD-momentum", "m", "o"), AddParamGroup("o", "n")
    )
    outcome = refused(heap, STEP)

    assert outcome.rule == "add/alpha"
    assert values(outcome.heap, "o.state[0][0].momentum_buffer") == (1, 1)
    assert resolve(outcome.heap, "o.state[1][0].momentum_buffer") is None


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

    assert values(heap, "o.state[0][0].momentum_buffer") == (2, 2)
    assert values(heap, "o.state[0][1].momentum_buffer") == (4, 4)
    assert values(heap, "m.two") == (5, 6)


def test_a_gradient_in_a_graph() -> None:
    """Zeroing one that is a view is declined; one that requires grad is left alone."""
    heap = done(made(), RequiresGrad("m.weight.grad", True))

    zeroed = done(heap, ZeroGrad("o", False))
    assert not zeroed.meta_of(at(zeroed, "m.weight.grad")).requires_grad
    view = done(module(grad=False), View("t", "v"), SetGrad("m.weight", "v"))
    declines(view, MakeOptimizer("SGD", "m", "o"), ZeroGrad("o", False))
