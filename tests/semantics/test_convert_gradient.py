"""The gradient of a converted parameter: kept, lost, or refused itself."""

import pytest

from swapmodel.actions import Cast, Convert, Forward, TakeWeakref
from swapmodel.outcomes import Refusal
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.events import Converted
from swapmodel.state.heap import Heap
from tests.heaps import LATE, NEW, NO_SWAP, at, done, module, refused, with_row

DOUBLE = Convert("m", Cast("float64"))

WRAPPED = Refusal(
    "convert/could-not-swap-gradient",
    "weight",
    (("module", "Module"), ("key", "weight")),
)
"""What is raised around a refused swap of the gradient."""


def test_a_gradient_that_requires_one() -> None:
    """A gradient goes on requiring a gradient, on every path."""
    for flags in ({}, {"swap": True}, {"overwrite": True}):
        heap = module(**flags)  # type: ignore[arg-type]
        draft = Draft(heap)
        i = heap.tensor(at(heap, "m.weight.grad")).impl
        draft.edit_meta(i).requires_grad = True
        then = done(draft.sealed(), DOUBLE)

        assert then.meta_of(at(then, "m.weight.grad")).requires_grad, flags


@pytest.mark.parametrize("under", [LATE, NEW])
def test_a_gradient_is_lost(under: str) -> None:
    """When the gradient's own swap is refused, the parameter has none any more."""
    heap = done(module(swap=True), TakeWeakref("ReferenceType", "m.weight.grad", "r"))
    outcome = refused(heap, DOUBLE, under)
    then = outcome.heap

    assert outcome.refusal == Refusal("swap/no-weakrefs", "t1", (), (WRAPPED,))
    assert then.impl_of(at(then, "m.weight")).dtype == "float64"
    assert then.grad_of(at(then, "m.weight")) is None
    assert then.weakrefs[0].tensor is None


def test_a_gradient_that_was_computed() -> None:
    """A gradient with a graph of its own is lost: the parameter is replaced by then."""
    heap = done(module(overwrite=True), Forward("scale", "p", "y"))
    i = heap.tensor(at(heap, "m.weight.grad")).impl
    grad_fn = heap.meta_of(at(heap, "y")).grad_fn
    heap = with_row(heap, "metas", i, grad_fn=grad_fn)
    outcome = refused(heap, DOUBLE)
    then = outcome.heap

    assert outcome.refusal == Refusal("convert/gradient-not-a-leaf")
    assert at(then, "m.weight") != at(heap, "m.weight")
    assert then.grad_of(at(then, "m.weight")) is None


def assigned_with_data() -> Heap:
    """A wrapper whose cast changes its device, with a gradient that stays put."""
    build = Builder()
    w = build.parameter(cls="TwoTensor", device="meta")
    build.gradient(w, build.tensor())
    build.name("m", "module", build.module({"weight": w}))
    heap = build.heap()
    return with_row(heap, "impls", heap.tensor(w).impl, device="cpu")


def test_an_assigned_parameter_has_no_gradient() -> None:
    """A gradient that takes `.data` is asked of the new parameter, which has none."""
    heap = assigned_with_data()
    outcome = refused(heap, DOUBLE, NO_SWAP)
    then = outcome.heap
    paths = [one.path for one in outcome.events if isinstance(one, Converted)]

    assert outcome.refusal == Refusal("convert/no-gradient")
    assert paths == ["assign", "data"]
    assert at(then, "m.weight") != at(heap, "m.weight")
    assert then.grad_of(at(then, "m.weight")) is None


def test_a_gradient_that_does_not_fit_any_more() -> None:
    """A gradient can be swapped and yet not be attached again."""
    heap = module(swap=True)
    draft = Draft(heap)
    draft.edit_impl(heap.tensor(at(heap, "m.weight.grad")).impl).length = 1
    outcome = refused(draft.sealed(), DOUBLE)

    assert outcome.refusal == Refusal("grad/size", "", (("size", 1), ("expected", 2)))
    assert outcome.heap.grad_of(at(heap, "m.weight")) is None
