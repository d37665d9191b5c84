"""Gradients that are kept, that fit, and what a further backward makes of them."""

import pytest

from swapmodel.actions import (
    Action,
    Backward,
    CastData,
    ClearGrad,
    Convert,
    FillGrad,
    Forward,
    RequiresGrad,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.conversions import (
    Cast,
    ConversionFn,
    Identity,
    Other,
    ScaleInPlace,
    ToDevice,
    Wrap,
)
from swapmodel.invariants.of_gradients import (
    Gradient,
    differ,
    gradient_fit,
    gradient_kept,
    misfits,
)
from swapmodel.invariants.violation import Step
from swapmodel.outcomes import Done
from swapmodel.state.build import Builder
from swapmodel.state.events import Converted
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId
from tests.heaps import LATE, NEW, at, done, module, spec, with_row
from tests.invariants.examples import DOUBLE, NOTHING, SWAP, violations

# -- What is kept ----------------------------------------------------------------------


def test_without_a_gradient_there_is_none_to_keep() -> None:
    """Nothing is asked of a parameter that had none."""
    assert violations("gradient-kept", module(swap=True, grad=False), DOUBLE) == []


def test_a_gradient_whose_own_swap_is_refused_is_lost() -> None:
    """It was detached before its owners were counted."""
    heap = done(module(swap=True), View("m.weight.grad", "v"))
    (found,) = violations("gradient-kept", heap, NOTHING, under=LATE)

    assert (found.place, found.kind, found.path) == (
        "m.weight.grad",
        "gradient",
        "swap",
    )
    assert found.now == "no gradient"


def test_a_gradient_that_becomes_another_object() -> None:
    """A made-up outcome: on the path `data` the gradient was replaced."""
    before, then = module(), done(module(), FillGrad("m.weight"))
    taken = Converted(at(before, "m.weight"), "parameter", "data")
    step = Step(before, Convert("m", Identity()), Done(then, (taken,)), spec(NEW))

    (found,) = gradient_kept(step)

    assert (found.path, found.now) == ("data", "another object")


# -- What fits -------------------------------------------------------------------------


def with_short() -> Heap:
    """As `module`, and beside it a tensor of one element."""
    build = Builder()
    weight = build.parameter((1, 2))
    build.gradient(weight, build.tensor((1, 1)))
    build.name("m", "module", build.module({"weight": weight}))
    build.name("s", "tensor", build.tensor((5,)))
    return build.heap()


@pytest.mark.parametrize(
    ("action", "promised", "now"),
    [
        (CastData("m.weight", "float64"), "dtype", "float32, not float64"),
        (SetData("m.weight", "s"), "length", "2, not 1"),
    ],
)
def test_each_field_of_a_misfit(action: Action, promised: str, now: str) -> None:
    """`.data =` never looks at the gradient."""
    found = violations("gradient-fit", with_short(), action)

    assert [(one.was, one.now) for one in found if not one.probe] == [
        (f"{promised} of m.weight.grad is that of m.weight", now)
    ]


def test_a_misfit_is_told_once() -> None:
    """What did not fit before the step is no fault of it."""
    heap = done(module(), CastData("m.weight", "float64"))

    assert len(misfits(heap)) == 1
    assert violations("gradient-fit", heap, FillGrad("p")) == []


def test_a_refusal_promises_no_backward() -> None:
    """What a refused conversion leaves is what `atomic-module` asks about."""
    heap = done(module(swap=True), TakeWeakref("ReferenceType", "m.weight", "r"))

    assert violations("gradient-fit", heap, DOUBLE) == []


# -- What is still to come -------------------------------------------------------------


def test_a_backward_that_did_not_run_before() -> None:
    """What was refused before the step is no fault of it."""
    poisoned = done(module(), Forward("scale", "p", "y"), SWAP, SWAP)

    assert violations("gradient-fit", poisoned, SetData("p", "t")) == []


def test_a_backward_that_is_refused_now() -> None:
    """The graph of a swapped tensor is poisoned for whoever has its impl."""
    heap = done(module(), Forward("scale", "p", "y"))
    (found,) = violations("gradient-fit", heap, SWAP)

    assert found.place == "t"
    assert found.now == "refused by backward/poisoned"
    assert found.probe == (Forward("scale", "t", "probe"), Backward("probe"))


def test_a_tensor_that_is_gone() -> None:
    """A wrapper that changes places with its own inner tensor leaves nobody's one."""
    swap = SwapTensors("m.weight", "m.weight.a")

    assert violations("gradient-fit", module("TwoTensor"), swap) == []


def test_a_backward_that_nobody_can_foresee() -> None:
    """Where the probe ends undefined, nothing is said of the gradient."""
    heap = done(module("TwoTensor"), RequiresGrad("t", True))

    assert violations("gradient-fit", heap, SetData("t", "p")) == []


def converted(fn: ConversionFn, *, cls: str = "Parameter") -> list[str]:
    """What a conversion promises of a further backward and does not keep."""
    return [
        one.was for one in violations("gradient-fit", module(cls), Convert("m", fn))
    ]


@pytest.mark.parametrize(
    "fn",
    [
        Identity(),
        Cast("float64"),
        ScaleInPlace(),
        Wrap("TwoTensor"),
        Other("p"),
        ToDevice("meta"),
    ],
    ids=lambda fn: type(fn).__name__,
)
def test_a_gradient_goes_on_from_what_it_is_converted_to(fn: ConversionFn) -> None:
    """What the function makes of the gradient and what a backward adds, both count."""
    assert converted(fn) == []


def test_a_gradient_that_starts_anew() -> None:
    """Without a gradient before, the sum is what the backward gives."""
    heap = done(module(), ClearGrad("m.weight"))

    assert violations("gradient-fit", heap, Convert("m", Identity())) == []


def test_a_gradient_that_is_wrong() -> None:
    """A made-up outcome: the conversion changed the values of the gradient."""
    before = module()
    storage = before.impl(before.tensor(grad_at(before)).impl).storage
    assert storage is not None
    then = with_row(before, "storages", storage, values=(5, 5))
    step = Step(before, Convert("m", Identity()), Done(then), spec(NEW))

    (found,) = gradient_fit(step)

    assert (found.place, found.kind) == ("m.weight.grad", "gradient")
    assert found.was == "a further backward makes m.weight.grad ((4, 4),)"
    assert found.now == "((0, 0),)"


def grad_at(heap: Heap) -> TensorId:
    """The gradient of the module's weight."""
    grad = heap.grad_of(at(heap, "m.weight"))
    assert grad is not None
    return grad


@pytest.mark.parametrize(
    ("wanted", "there", "told"),
    [
        (None, ((1, 2),), False),
        (((1, 2),), None, True),
        (((1, 2),), ((1, 2), (3, 4)), True),
        (((1, 2),), (None,), False),
        (((1, 2), None), ((1, 2), (3, 4)), False),
        (((1, 2),), ((1, 3),), True),
    ],
)
def test_gradients_differ_as_far_as_anybody_can_say(
    wanted: Gradient | None, there: Gradient | None, told: bool
) -> None:
    """Values that nobody knows are no difference; a missing gradient is one."""
    assert differ(wanted, there) is told
