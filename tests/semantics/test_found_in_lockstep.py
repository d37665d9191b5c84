"""What the lockstep found in the model, each with the value that torch 2.13.0 has."""

from swapmodel.actions import (
    Backward,
    Cast,
    CastData,
    Convert,
    Deepcopy,
    Detach,
    FillGrad,
    Forward,
    Product,
    RegisterHook,
    RequiresGrad,
    SetData,
    SetGrad,
    SwapTensors,
    TakeWeakref,
    Tie,
    View,
    Write,
)
from swapmodel.conversions import (
    ByRole,
    Identity,
    Other,
    RaiseAt,
    ToDevice,
    ToEmpty,
    Wrap,
)
from swapmodel.outcomes import Done, Undefined
from swapmodel.semantics.ownership import weak_count
from swapmodel.semantics.step import step
from swapmodel.semantics.weakrefs import python_types
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.heap import living
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


def test_the_copy_of_a_gradient_is_on_one_device() -> None:
    """Inner tensors on another device than the first one's are moved by the copy."""
    start = done(module("TwoTensor", grad=False), Convert("m", ToEmpty("meta")))
    heap = done(start, SwapTensors("m.weight.b", "t"), Backward("m.weight"))

    assert heap.impl_of(at(heap, "m.weight.b")).device == "cpu"
    assert heap.impl_of(at(heap, "m.weight.grad.b")).device == "meta"


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


def test_a_wrapper_over_integers_is_not_recorded() -> None:
    """The result's dtype is that of the first inner tensor, which has no gradient."""
    start = done(module("TwoTensor", grad=False), CastData("m.weight.a", "int64"))

    for action in (View("m.weight", "v"), Forward("scale", "m.weight", "y")):
        assert refused(start, action).rule == "forward/dtype"


def test_the_class_of_either_operand_converts() -> None:
    """`t * u` is of the class of *u* if that is the one that converts."""
    b = Builder()
    b.name("t", "tensor", b.tensor())
    b.name("u", "tensor", b.tensor(cls="SubTensor"))
    b.name("w", "tensor", b.tensor(cls="TwoTensor"))
    heap = done(b.heap(), Product("t", "u", "y"))

    assert heap.tensor(at(heap, "y")).cls == "SubTensor"
    assert refused(heap, Product("u", "w", "z")).rule == "class/as-subclass"


def test_a_class_that_converts_hides_its_node() -> None:
    """`t.view_as(t)` is converted, so that a hook on the edge never runs."""
    b = Builder()
    b.name("t", "tensor", b.tensor(cls="SubTensor", requires_grad=True))
    heap = done(b.heap(), Forward("scale", "t", "y"))
    heap = done(heap, RegisterHook("t", "h", "node"), Backward("y"))

    assert not [one for _, one in living(heap.hooks)]


def test_detach_reaches_into_a_wrapper() -> None:
    """What a wrapper wraps is detached in its own way."""
    b = Builder()
    inner = {"a": b.tensor(), "b": b.tensor(cls="UnwrappingTensor")}
    b.name("w", "tensor", b.tensor(cls="TwoTensor", inner=inner))
    heap = done(b.heap(), Detach("w", "d"), View("w", "v"))

    assert heap.tensor(at(heap, "d.b")).cls == "Tensor"
    assert heap.tensor(at(heap, "v.b")).cls == "UnwrappingTensor"


def test_a_copy_must_keep_its_class() -> None:
    """On meta a copy is a clone, and this class's clone is a plain tensor."""
    b = Builder()
    b.name("t", "tensor", b.tensor(None, cls="SubTensor", device="meta"))

    assert refused(b.heap(), Deepcopy("t", "d")).rule == "deepcopy/clone-type"


def test_a_copy_requires_what_is_required_by_a_base() -> None:
    """A view requires a gradient as soon as its base does, and so does its copy."""
    start = done(module(grad=False), View("t", "v"), RequiresGrad("t"))
    heap = done(start, Deepcopy("v", "d"))

    assert heap.meta_of(at(heap, "d")).requires_grad


def test_a_lazy_parameter_refuses_bfloat16_alone() -> None:
    """Its class lets pass `half`, `float`, `double` and `to`, and not `bfloat16`."""
    b = Builder()
    w = b.parameter((), cls="UninitializedParameter")
    b.name("m", "module", b.module({"weight": w}))
    start = b.heap()

    done(start, Convert("m", Cast("float16")))
    done(start, Convert("m", RaiseAt(2, Cast("bfloat16"))))
    assert refused(start, Convert("m", Cast("bfloat16"))).rule == "class/uninitialized"


def test_wrapping_reads_what_detach_gives() -> None:
    """The other part of a wrapper that unwraps itself can have no memory at all."""
    start = done(module("UnwrappingTensor", grad=False), SetData("p.b", "m.weight"))
    b = done(start, Tie("m", "weight", "p"))

    assert isinstance(step(b, Convert("m", Wrap("OpaqueTensor")), spec(NEW)), Done)


def test_a_view_gives_back_the_size_that_it_viewed() -> None:
    """A wrapper's own size can be another one than that of what it wraps."""
    b = Builder()
    b.name("p", "tensor", b.parameter((1, 2), cls="TwoTensor"))
    b.name("s", "tensor", b.tensor((5,)))
    heap = done(b.heap(), SetData("p", "s"), View("p", "v"))

    assert refused(heap, Backward("v")).rule == "backward/view-size"


def test_a_swap_asks_for_the_edge_of_a_lazy_parameter() -> None:
    """Its other owner is a gradient, and the view that would tell is refused."""
    b = Builder()
    u = b.parameter((1, 2), cls="UninitializedParameter")
    b.gradient(u, b.tensor((1, 1)))
    b.name("m", "module", b.module({"weight": u}))
    b.name("p", "tensor", b.parameter((3, 4)))
    start = b.heap()
    heap = done(start, SetGrad("m.weight.grad", "m.weight"))

    swap = SwapTensors("m.weight", "p")
    assert refused(heap, swap).rule == "class/uninitialized"


def test_what_stands_before_a_try_raises_by_itself() -> None:
    """`grad_applied.requires_grad_(False)` is refused to what a graph computed."""
    heap = done(module(swap=True), Forward("scale", "p", "y"))

    refusal = refused(heap, Convert("m", ByRole(Identity(), Other("y")))).refusal

    assert (refusal.rule, refusal.within) == ("requires-grad/non-leaf", ())
