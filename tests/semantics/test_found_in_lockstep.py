"""What the lockstep found in the model, each with the value that torch 2.13.0 has."""

from swapmodel.actions import (
    Backward,
    Cast,
    CastData,
    Convert,
    FillGrad,
    Forward,
    SetData,
    TakeWeakref,
    View,
    Write,
)
from swapmodel.conversions import ToDevice
from swapmodel.outcomes import Done, Undefined
from swapmodel.semantics.ownership import weak_count
from swapmodel.semantics.step import step
from swapmodel.semantics.weakrefs import python_types
from swapmodel.state.draft import Draft
from tests.heaps import NEW, at, done, module, refused, spec, values


def test_backward_of_a_leaf_copies_its_gradient() -> None:
    """The caller still holds the gradient, and the copy counts as a write."""
    heap = done(module(grad=False), Backward("p"), Forward("scale", "m.weight", "y"))
    heap = done(heap, Backward("y"))

    copied, stolen = heap.impl_of(at(heap, "p.grad")), at(heap, "m.weight.grad")

    assert heap.version(copied.counter) == 1
    assert heap.version(heap.impl_of(stolen).counter) == 0


def test_the_copy_of_a_gradient_has_one_dtype() -> None:
    """Inner tensors of another dtype than the first one's are cast by the copy."""
    start = done(module("TwoTensor", grad=False), CastData("m.weight.a", "float64"))
    heap = done(start, CastData("m.weight", "float64"), Backward("m.weight"))

    assert heap.impl_of(at(heap, "m.weight.b")).dtype == "float32"
    assert heap.impl_of(at(heap, "m.weight.grad.b")).dtype == "float64"


def test_a_wrapper_over_real_storage_has_aliases_without() -> None:
    """`w.data = plain` gives the wrapper a storage; its handler knows nothing of it."""
    start = done(module("TwoTensor"), SetData("m.weight", "t"))
    viewed = done(start, View("m.weight", "v"))
    converted = done(start, Convert("m", Cast("float32")))

    assert values(start, "m.weight") == (5, 6)
    assert viewed.impl_of(at(viewed, "v")).storage is None
    assert converted.impl_of(at(converted, "m.weight")).storage is None


def test_attaching_a_swapped_gradient_is_outside_the_try() -> None:
    """A gradient that does not fit is refused under its own name alone."""
    incoherent = done(module("TwoTensor"), CastData("m.weight", "float64"))
    outcome = refused(incoherent, Convert("m", Cast("float64")))

    assert outcome.refusal.rule == "grad/dtype"
    assert outcome.refusal.within == ()


def test_an_except_clause_can_be_refused_itself() -> None:
    """A gradient of another dtype cannot be attached again, and it is lost."""
    start = done(
        module(swap=True),
        CastData("m.weight", "float64"),
        Forward("square", "m.weight", "y"),
    )
    outcome = refused(start, Convert("m", Cast("float64")))

    assert outcome.refusal.rule == "swap/few-owners"
    assert [one.rule for one in outcome.refusal.within] == ["grad/dtype"]
    assert outcome.heap.grad_of(at(outcome.heap, "m.weight")) is None


def test_one_plain_weakref_per_tensor() -> None:
    """`weakref.ref(t)` gives out the same reference as long as that lives."""
    heap = done(
        module(),
        TakeWeakref("ReferenceType", "t", "r"),
        TakeWeakref("ReferenceType", "t", "s"),
        TakeWeakref("_WeakTensorRef", "t", "u"),
        TakeWeakref("_WeakTensorRef", "t", "v"),
    )

    assert python_types(heap, at(heap, "t")) == ["ReferenceType"]
    assert weak_count(Draft(heap), at(heap, "t")) == 2


def test_a_null_storage_can_be_aliased() -> None:
    """Views, no-op casts and ones of its form do not look into the storage."""
    null = done(module("TwoTensor", swap=True), SetData("t", "p"))
    seen = done(null, View("t", "v"), FillGrad("t"))

    assert isinstance(step(null, CastData("t", "float32"), spec(NEW)), Done)
    assert isinstance(step(null, CastData("t", "float64"), spec(NEW)), Undefined)
    assert isinstance(step(null, Forward("scale", "t", "y"), spec(NEW)), Undefined)
    assert values(seen, "t.grad") == (1, 1)


def test_gradient_of_a_stale_view_has_been_written() -> None:
    """A strided view's gradient is copied into zeros, which counts as a write."""
    heap = done(module(grad=False), View("m.weight", "v"), Write("m.weight"))

    then = done(heap, Backward("v"))

    grad = then.grad_of(at(then, "m.weight"))
    assert grad is not None
    assert then.version(then.impl_of(grad).counter) == 1


def test_a_move_hands_the_outer_dtype_on() -> None:
    """A wrapper that is moved casts its inner tensors to its own dtype."""
    heap = done(
        module("TwoTensor", grad=False),
        CastData("m.weight", "float64"),
        Convert("m", ToDevice("meta")),
    )

    for place in ("m.weight", "m.weight.a", "m.weight.b"):
        assert heap.impl_of(at(heap, place)).dtype == "float64"
