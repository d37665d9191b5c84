"""The actions that `step` performs itself, without an operation of a spec."""

import pytest

from swapmodel.actions import (
    Backward,
    CastData,
    Drop,
    FillGrad,
    Forward,
    Product,
    SetAttribute,
    SwapTensors,
    TakeWeakref,
    View,
    Write,
)
from swapmodel.outcomes import Refusal
from tests.heaps import LATE, at, done, module, refused, values


def test_assigning_a_name_again() -> None:
    """A name that is assigned again lets go of what it stood for."""
    heap = done(module(), View("t", "v"), Forward("scale", "t", "v"))

    assert values(heap, "v") == (7, 2)
    assert heap.meta_of(at(heap, "v")).base is None
    assert len([one for one in heap.tensors if one]) == 5


def test_attributes_are_sorted_and_replaced() -> None:
    """An entry of the dict has one value, and the entries are kept by name."""
    heap = done(
        module(),
        SetAttribute("p", "tag", 1),
        SetAttribute("p", "note", 2),
        SetAttribute("p", "tag", 3),
    )

    assert heap.tensor(at(heap, "p")).attributes == (("note", 2), ("tag", 3))


@pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])
def test_casting_behind_its_back(cls: str) -> None:
    """`t.data = t.data.to(dtype)` casts what `.data` shows; the version stays."""
    heap = module(cls)
    then = done(heap, CastData("p", "float64"))
    p = at(heap, "p")

    assert then.impl_of(p).dtype == "float64"
    assert then.impl_of(p).counter == heap.impl_of(p).counter
    assert (then.impl_of(p).storage is None) == (cls == "TwoTensor")
    assert done(heap, CastData("p", "float32")).impl_of(p) == heap.impl_of(p)


@pytest.mark.parametrize("name", ["m", "p", "t"])
def test_dropping(name: str) -> None:
    """A variable of any kind can be deleted, once."""
    heap = done(module(), Drop(name))

    assert name not in {held[0] for held in heap.names}
    assert refused(heap, Drop(name)).refusal == Refusal("place/absent", name)


def test_what_cannot_be_dispatched_is_not_touched() -> None:
    """Nothing is computed, viewed, cast or filled of a tensor that nobody handles."""
    heap = done(module("TwoTensor"), TakeWeakref("_WeakTensorRef", "p", "r"))
    heap = refused(heap, SwapTensors("p", "t"), LATE).heap
    tried = (
        Forward("square", "p", "y"),
        Product("p", "m.weight", "y"),
        View("p", "v"),
        Write("p"),
        Backward("p"),
        FillGrad("p"),
        CastData("p", "float64"),
    )

    for action in tried:
        outcome = refused(heap, action)
        assert (outcome.rule, outcome.heap) == ("dispatch/no-handler", heap), action
