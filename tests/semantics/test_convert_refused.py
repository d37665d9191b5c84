"""`Module._apply` refused: what is left where, and how the refusal is told."""

import pytest

from swapmodel.actions import (
    Cast,
    Convert,
    Forward,
    SwapTensors,
    TakeWeakref,
)
from swapmodel.outcomes import Refusal
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import LATE, NEW, at, done, module, refused, trimmed, with_row

DOUBLE = Convert("m", Cast("float64"))


def named(rule: str, key: str = "weight") -> Refusal:
    """What is raised around a refusal, with the module and the key."""
    return Refusal(rule, key, (("module", "Module"), ("key", key)))


# -- Swapping --------------------------------------------------------------------------


@pytest.mark.parametrize("under", [LATE, NEW])
def test_a_gradient_is_attached_again(under: str) -> None:
    """A parameter whose swap is refused has its gradient back, the same object."""
    heap = done(module(swap=True), TakeWeakref("ReferenceType", "m.weight", "r"))
    outcome = refused(heap, DOUBLE, under)

    assert outcome.refusal == Refusal(
        "swap/no-weakrefs", "t1", (), (named("convert/could-not-swap"),)
    )
    assert at(outcome.heap, "m.weight.grad") == at(heap, "m.weight.grad")
    assert trimmed(outcome.heap) == heap


@pytest.mark.parametrize("under", [LATE, NEW])
def test_a_parameter_without_a_gradient(under: str) -> None:
    """Without a gradient there is nothing to attach."""
    heap = done(
        module(swap=True, grad=False), TakeWeakref("ReferenceType", "m.weight", "r")
    )
    outcome = refused(heap, DOUBLE, under)

    assert outcome.refusal.within == (named("convert/could-not-swap"),)
    assert trimmed(outcome.heap) == heap


def test_a_late_refusal_tears_the_parameter() -> None:
    """Release 2.3 leaves a plain tensor over the impl of a wrapper."""
    heap = done(module("TwoTensor"), Forward("scale", "m.weight", "y"))
    outcome = refused(heap, DOUBLE, LATE)
    then, w = outcome.heap, at(heap, "m.weight")

    assert outcome.rule == "swap/one-owner"
    assert then.tensor(w).inner != heap.tensor(w).inner
    assert then.impl_of(w) == heap.impl_of(w)


def test_nothing_to_make_a_parameter_of() -> None:
    """A tensor that nobody handles is refused when a parameter is made of it."""
    torn = done(
        module("TwoTensor", swap=True), TakeWeakref("_WeakTensorRef", "m.weight", "r")
    )
    torn = refused(torn, SwapTensors("m.weight", "t"), LATE).heap
    outcome = refused(torn, Convert("m", Cast("float32")))

    assert outcome.rule == "dispatch/no-handler"
    assert [one.rule for one in outcome.refusal.within] == ["convert/could-not-swap"]


def test_a_function_that_is_refused() -> None:
    """What the function itself raises is not wrapped, and no path was chosen."""
    torn = done(module("TwoTensor"), TakeWeakref("_WeakTensorRef", "m.weight", "r"))
    torn = refused(torn, SwapTensors("m.weight", "t"), LATE).heap
    outcome = refused(torn, DOUBLE)

    assert outcome.refusal == Refusal("dispatch/no-handler")
    assert outcome.events == ()
    assert trimmed(outcome.heap) == trimmed(torn)


# -- Assigning -------------------------------------------------------------------------


def test_a_parameter_that_is_none() -> None:
    """A plain tensor among the parameters is not assigned to."""
    build = Builder(overwrite=True)
    build.name("m", "module", build.module({"weight": build.tensor()}))
    outcome = refused(build.heap(), DOUBLE)

    assert outcome.refusal == Refusal("convert/not-a-parameter")
    assert trimmed(outcome.heap) == build.heap()


def test_a_parameter_that_was_computed() -> None:
    """A parameter that a graph computed is not assigned to."""
    heap = done(module(overwrite=True), Forward("scale", "p", "y"))
    i = heap.tensor(at(heap, "m.weight")).impl
    grad_fn = heap.meta_of(at(heap, "y")).grad_fn
    heap = with_row(heap, "metas", i, grad_fn=grad_fn)
    outcome = refused(heap, DOUBLE)

    assert outcome.refusal == Refusal("convert/not-a-leaf")
    assert trimmed(outcome.heap) == heap


# -- Gradients and buffers -------------------------------------------------------------


def with_unhandled(place: str) -> Heap:
    """A module whose gradient or buffer is a plain tensor over a wrapper's impl."""
    build = Builder(swap=True)
    w, other = build.parameter(), build.tensor(cls="TwoTensor")
    if place == "gradient":
        build.gradient(w, other)
    buffers = {"running": other} if place == "buffer" else {}
    build.name("m", "module", build.module({"weight": w}, buffers=dict(buffers)))
    return with_row(build.heap(), "tensors", other, cls="Tensor", inner=())


@pytest.mark.parametrize("place", ["gradient", "buffer"])
def test_what_cannot_be_cast(place: str) -> None:
    """A gradient or buffer that the function refuses leaves the parameter converted."""
    heap = with_unhandled(place)
    outcome = refused(heap, DOUBLE)
    then = outcome.heap

    assert outcome.refusal == Refusal("dispatch/no-handler")
    assert then.impl_of(at(then, "m.weight")).dtype == "float64"
