"""Builders: every argument is in the heap that is taken."""

import pytest

from swapmodel.invariants.of_heaps import incoherent
from swapmodel.invariants.of_structure import malformed
from swapmodel.state.build import Builder
from swapmodel.state.holders import Flags, Module


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("overwrite", [False, True])
def test_flags(swap: bool, overwrite: bool) -> None:
    """The switches are those that the builder is given."""
    heap = Builder(swap=swap, overwrite=overwrite).heap()

    assert Flags(swap=swap, overwrite=overwrite) == heap.flags


def test_a_plain_tensor() -> None:
    """A tensor stands for what it is given, with a storage and a counter of its own."""
    build = Builder()
    build.tensor()
    t = build.tensor(
        (5,),
        dtype="float64",
        device="meta",
        requires_grad=True,
        attributes={"tag": 2, "note": 1},
    )
    heap = build.heap()
    tensor, impl = heap.tensor(t), heap.impl_of(t)

    assert (tensor.cls, tensor.attributes) == ("Tensor", (("note", 1), ("tag", 2)))
    assert (impl.dtype, impl.device, impl.length) == ("float64", "meta", 1)
    assert impl.storage is not None
    assert heap.storage(impl.storage).values == (5,)
    assert (t, False, 0) == (impl.pyobj, impl.python_key, impl.offset)
    assert heap.meta_of(t).requires_grad
    assert impl.counter != heap.impls[0].counter


def test_what_is_left_out() -> None:
    """Two elements of float32 on the CPU, outside autograd, are what a tensor is."""
    build = Builder()
    t = build.tensor()
    heap = build.heap()
    impl = heap.impl_of(t)

    assert (impl.dtype, impl.device, impl.length) == ("float32", "cpu", 2)
    assert heap.storages[0].values == (1, 2)
    assert not heap.meta_of(t).requires_grad
    assert not heap.tensor(t).is_param


def test_undefined_values() -> None:
    """A tensor of which nobody knows the values has two elements."""
    build = Builder()
    t = build.tensor(None)
    heap = build.heap()

    assert heap.storages[0].values is None
    assert heap.impl_of(t).length == 2


def test_a_wrapper() -> None:
    """A wrapper has a null storage of its own and an inner tensor for each name."""
    build = Builder()
    t = build.tensor((3, 4), cls="TwoTensor", dtype="float16", device="cuda")
    heap = build.heap()
    outer = heap.impl_of(t)

    assert tuple(name for name, _ in heap.tensor(t).inner) == ("a", "b")
    assert (outer.storage, outer.python_key) == (None, True)
    for _, one in heap.tensor(t).inner:
        impl = heap.impl_of(one)
        assert (impl.dtype, impl.device, impl.length) == ("float16", "cuda", 2)
        assert impl.storage is not None
        assert heap.storage(impl.storage).values == (3, 4)
    assert list(incoherent(heap)) == []


@pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_parameter(cls: str, requires_grad: bool) -> None:
    """A wrapper that is a parameter says so in its dict, a `Parameter` by its class."""
    build = Builder()
    given = {"dtype": "float64", "device": "meta", "requires_grad": requires_grad}
    t = build.parameter((7,), cls=cls, attributes={"tag": 1}, **given)  # type: ignore[arg-type]
    heap = build.heap()
    tensor, impl = heap.tensor(t), heap.impl_of(t)

    assert (cls, cls == "TwoTensor") == (tensor.cls, tensor.is_param)
    assert (impl.dtype, impl.device, impl.length) == ("float64", "meta", 1)
    assert tensor.attributes == (("tag", 1),)
    assert requires_grad == heap.meta_of(t).requires_grad


def test_parameters_require_gradients() -> None:
    """A parameter requires a gradient unless it is told otherwise."""
    build = Builder()
    t = build.parameter()

    assert build.heap().meta_of(t).requires_grad


def test_a_gradient() -> None:
    """A gradient belongs to the tensor that it is attached to, not the reverse."""
    build = Builder()
    w, g = build.parameter(), build.tensor()
    build.gradient(w, g)
    heap = build.heap()

    assert (g, None) == (heap.grad_of(w), heap.grad_of(g))


def test_a_module() -> None:
    """A module lists what it is given in the order in which it is given."""
    build = Builder()
    w, b = build.parameter(), build.tensor()
    child = build.module()
    m = build.module(
        {"weight": w, "bias": None},
        buffers={"running": b, "gone": None},
        children={"z": child, "a": child},
        cls="Linear",
    )

    assert build.heap().module(m) == Module(
        cls="Linear",
        parameters=(("weight", w), ("bias", None)),
        buffers=(("running", b), ("gone", None)),
        children=(("z", child), ("a", child)),
    )


def test_variables() -> None:
    """A variable stands for what it was assigned last."""
    build = Builder()
    first, second = build.tensor(), build.tensor()
    build.name("t", "tensor", first)
    build.name("m", "module", build.module())
    build.name("t", "tensor", second)

    assert (("m", "module", 0), ("t", "tensor", second)) == build.heap().names


def test_a_builder_goes_on() -> None:
    """A heap that was taken stays when more is built."""
    build = Builder()
    w = build.parameter(cls="TwoTensor")
    taken = build.heap()
    build.gradient(w, build.tensor(cls="TwoTensor"))

    assert taken.grad_of(w) is None
    assert build.heap().grad_of(w) is not None
    assert list(malformed(build.heap())) == []


def test_an_rnn() -> None:
    """An RNN lists its weights and refers to each weakly, to one tensor once."""
    build = Builder()
    w = build.parameter()
    tied = build.module({"weight_ih_l0": w, "weight_hh_l0": w}, cls="RNN")
    half = build.module({"weight_hh_l0": w}, cls="RNN")
    heap = build.heap()

    assert heap.module(tied).flat_weights == (w, w)
    assert heap.module(tied).flat_weight_refs == (0, 0)
    assert heap.module(half).flat_weights == (None, w)
    assert heap.module(half).flat_weight_refs == (None, 0)
    assert [one.tensor for one in heap.weakrefs] == [w]


def test_views_and_slices() -> None:
    """One that shares covers part of a storage; a view counts with what it is of."""
    build = Builder()
    base, slice_ = build.tensor((3, 4), dtype="float64"), build.tensor()
    view, second = build.tensor(), build.tensor()
    assert build.share(slice_, base, offset=1, length=1) == slice_
    assert build.view(build.share(view, base), base) == view
    build.share(second, slice_, length=1)
    heap = build.heap()
    impls = [heap.impl_of(t) for t in (base, slice_, view, second)]

    assert len({(one.storage, one.dtype) for one in impls}) == 1
    assert [one.offset for one in impls] == [0, 1, 0, 1]
    assert [one.length for one in impls] == [2, 1, 2, 1]
    assert impls[2].counter == impls[0].counter != impls[1].counter
    assert heap.meta_of(view).base == heap.tensor(base).impl
    assert heap.meta_of(slice_).base is None


def test_a_marked_tensor_is_a_parameter() -> None:
    """Whatever its class, `_is_param` is set on it."""
    build = Builder()
    t = build.mark(build.tensor())
    wrapper, plain = build.parameter(cls="TwoTensor"), build.parameter()
    heap = build.heap()

    marked = [heap.tensor(one).is_param for one in (t, wrapper, plain)]
    assert marked == [True, True, False]
