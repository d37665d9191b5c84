"""Classes that refuse methods, convert results or are declined altogether."""

import pytest

from swapmodel.actions import (
    WITHOUT_METHODS,
    Action,
    Backward,
    CastData,
    ClearGrad,
    FillGrad,
    Forward,
    RegisterHook,
    SetData,
    SetGrad,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.outcomes import OutOfScope, Refusal
from swapmodel.semantics import methods
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId
from tests.heaps import NEW, at, done, refused, spec


def pair(cls: str) -> Heap:
    """A parameter `p` of a class and a plain tensor `t`."""
    b = Builder()
    values = () if cls == "UninitializedParameter" else (1, 2)
    b.name("p", "tensor", b.parameter(values, cls=cls))
    b.name("t", "tensor", b.tensor((3, 4)))
    return b.heap()


@pytest.mark.parametrize(
    "action",
    [
        Forward("scale", "p", "y"),
        View("p", "v"),
        Backward("p"),
        FillGrad("p"),
        RegisterHook("p", "h"),
    ],
)
def test_an_uninitialized_parameter_refuses_methods(action: Action) -> None:
    """A parameter without a size refuses everything that computes with it."""
    outcome = refused(pair("UninitializedParameter"), action)

    assert outcome.refusal == Refusal("class/uninitialized", "UninitializedParameter")


@pytest.mark.parametrize(
    "action",
    [
        SwapTensors("p", "t"),
        SetData("t", "p"),
        CastData("p", "float64"),
        ClearGrad("p"),
        TakeWeakref("ReferenceType", "p", "r"),
    ],
)
def test_an_uninitialized_parameter_has_properties(action: Action) -> None:
    """What reads or sets properties is not asked of the class."""
    assert isinstance(action, WITHOUT_METHODS)
    done(pair("UninitializedParameter"), action)


def test_a_gradient_is_set_without_a_method() -> None:
    """What refuses is the size, not the class."""
    outcome = refused(pair("UninitializedParameter"), SetGrad("p", "t"))

    assert outcome.rule == "grad/size"


def test_a_fake_tensor_is_declined() -> None:
    """What a FakeTensor does depends on what its mode has seen."""
    outcome = step(pair("FakeTensor"), SetData("t", "p"), spec(NEW))

    assert outcome == OutOfScope(methods.FAKE.why)


# -- Converted results -----------------------------------------------------------------


def test_a_converted_result_is_a_view() -> None:
    """The result of a class that converts has a base, and an alias in its graph."""
    heap = done(pair("SubTensor"), Forward("scale", "p", "y"))
    y = at(heap, "y")
    base = heap.meta_of(y).base
    grad_fn = heap.meta_of(y).grad_fn
    assert base is not None
    assert grad_fn is not None
    (edge,) = heap.node(grad_fn).edges

    assert heap.tensor(y).cls == "SubTensor"
    assert heap.tensor(heap.impl(base).pyobj).cls == "Tensor"
    assert heap.node(grad_fn).name == "AliasBackward0"
    assert edge == heap.meta(base).grad_fn


def test_a_converted_view_has_the_same_base() -> None:
    """The view of a tensor is converted to another view of that tensor."""
    heap = done(pair("SubTensor"), View("p", "v"))

    assert heap.meta_of(at(heap, "v")).base == heap.tensor(at(heap, "p")).impl


def test_a_view_is_converted_in_the_same_grad_mode() -> None:
    """Under `no_grad` the converted view has no node either."""
    heap = done(pair("SubTensor"), View("p", "v", False))
    meta = heap.meta_of(at(heap, "v"))

    assert (meta.grad_fn, meta.no_grad_view) == (None, True)


def test_gradients_of_ones_are_converted_outside_any_graph() -> None:
    """`torch.ones_like` gives a tensor of the class, in no graph."""
    heap = done(pair("SubTensor"), FillGrad("p"))
    grad = at(heap, "p.grad")

    assert heap.tensor(grad).cls == "SubTensor"
    assert heap.meta_of(grad).grad_fn is None


def test_what_converts_nothing() -> None:
    """A result of the class itself, a refusal and a class that converts nothing."""
    draft = Draft(pair("SubTensor"))
    p, t = TensorId(0), TensorId(1)
    why = Refusal("dispatch/no-handler")

    assert methods.returned(draft, p, p) == p
    assert methods.returned(draft, p, why) == why
    assert methods.returned(draft, t, p) == p


def test_a_wrapper_is_not_converted() -> None:
    """A wrapper is a Python object by then, and torch refuses to make another one."""
    b = Builder()
    p, w = b.parameter(cls="SubTensor"), b.tensor(cls="TwoTensor")
    made = methods.returned(Draft(b.heap()), p, w)

    facts = (("class", "SubTensor"), ("found", "TwoTensor"))
    assert made == Refusal("class/as-subclass", facts=facts)


def test_what_nobody_handles_is_not_converted() -> None:
    """An intercepted result under a class without handler is refused as ever."""
    b = Builder()
    p, w = b.parameter(cls="SubTensor"), b.tensor(cls="TwoTensor")
    draft = Draft(b.heap())
    draft.edit_tensor(w).cls = "Tensor"

    assert methods.returned(draft, p, w) == Refusal("dispatch/no-handler")


def test_a_class_that_knows_no_method() -> None:
    """One such operand is enough."""
    b = Builder()
    t, w = b.tensor(), b.parameter((), cls="UninitializedParameter")
    draft = Draft(b.heap())

    assert methods.lazy(draft) is methods.lazy(draft, t) is None
    assert methods.lazy(draft, t, w) == Refusal(
        "class/uninitialized", "UninitializedParameter"
    )
