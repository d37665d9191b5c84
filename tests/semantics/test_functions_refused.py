"""Functions that a conversion applies: whom they refuse, and what nobody models."""

import pytest

from swapmodel.actions import Convert, View, Write
from swapmodel.conversions import (
    ByRole,
    Cast,
    ConversionFn,
    DetachEach,
    Identity,
    Other,
    RaiseAt,
    ScaleInPlace,
    TensorFn,
    To,
    ToDevice,
    ToEmpty,
    Type,
    Wrap,
    parts,
)
from swapmodel.outcomes import OutOfScope, Refusal, Unmodelled
from swapmodel.semantics import functions
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from tests.heaps import NEW, at, done, module, spec

DOUBLE = Cast("float64")


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (DOUBLE, (DOUBLE,)),
        (RaiseAt(2, DOUBLE), (DOUBLE,)),
        (ByRole(DOUBLE, Identity()), (DOUBLE, Identity())),
    ],
)
def test_parts(fn: ConversionFn, expected: tuple[TensorFn, ...]) -> None:
    """A function is made of what it can apply to a tensor."""
    assert tuple(parts(fn)) == expected


def test_a_fake_tensor() -> None:
    """What is computed of it is one too; what that holds is never asked."""
    build = Builder()
    t, fake = build.tensor(), build.tensor(cls="FakeTensor")
    build.name("f", "tensor", fake)
    draft = Draft(build.heap())
    made = functions.call(draft, DOUBLE, fake)

    assert isinstance(made, int)
    assert draft.tensor(made).cls == "FakeTensor"
    assert functions.call(draft, Other("f"), t) == fake


def test_an_uninitialized_parameter() -> None:
    """Casts and moves are let through, every other method is refused."""
    build = Builder()
    t = build.parameter(cls="UninitializedParameter")
    draft = Draft(build.heap())
    refusal = Refusal("class/uninitialized", "UninitializedParameter")
    refused = (Type("float64"), ToEmpty("cpu"), DetachEach(), ScaleInPlace())

    for fn in (*refused, Wrap("TwoTensor")):
        assert functions.call(draft, fn, t) == refusal
    for allowed in (DOUBLE, To("float16"), ToDevice("meta")):
        assert isinstance(functions.call(draft, allowed, t), int)


def test_a_wrapper_around_a_class_of_ones_own() -> None:
    """The model makes no wrapper around what `clone()` gives of another class."""
    build = Builder()
    t = build.tensor(cls="SubTensor")
    outcome = functions.call(Draft(build.heap()), Wrap("TwoTensor"), t)

    assert isinstance(outcome, Unmodelled)


def test_a_view_that_cannot_be_asked() -> None:
    """A copy in grad mode asks for the node, which a stale view refuses."""
    heap = done(module(), View("p", "v", False), Write("v"))
    outcome = functions.call(Draft(heap), DOUBLE, at(heap, "v"), grad=True)

    assert outcome == Refusal("view/no-grad")


def test_wrapping_without_end() -> None:
    """Each wrapping doubles what is wrapped, until the model declines."""
    heap, wrap = module(grad=False), Convert("m", Wrap("TwoTensor"))
    for _ in range(7):
        heap = done(heap, wrap)

    assert isinstance(step(heap, wrap, spec(NEW)), OutOfScope)
