"""What recordings of older releases found in the model, as torch 2.13.0 does it."""

import pytest

from swapmodel.actions import (
    Backward,
    Deepcopy,
    Product,
    SetData,
    SetGrad,
    SwapTensors,
    TakeWeakref,
    View,
    Write,
)
from swapmodel.conformance.observation import observe
from swapmodel.outcomes import Undefined
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import LATE, NEW, NO_SWAP, at, done, module, refused, spec, values


def torn() -> Heap:
    """A swap that stopped half-way: `t` has the class and inner tensors of `p`."""
    b = Builder()
    w = b.parameter((1, 2), cls="TwoTensor")
    b.name("m", "module", b.module({"weight": w}))
    b.name("p", "tensor", b.parameter((3, 4), cls="TwoTensor"))
    b.name("t", "tensor", b.tensor((5, 6)))
    heap = done(b.heap(), TakeWeakref("_WeakTensorRef", "p", "r"))
    return refused(heap, SwapTensors("p", "t")).heap


def test_a_handler_takes_apart_what_has_its_class() -> None:
    """Gradient or operand, by its inner tensors; its own memory is left alone."""
    heap = done(torn(), SetGrad("m.weight", "t"), Backward("m.weight"))

    assert values(heap, "t") == (5, 6)
    assert values(heap, "t.a") == values(heap, "t.b") == (4, 5)
    for one, other in (("t", "m.weight"), ("m.weight", "t")):
        heap = done(torn(), Product(one, other, "y"))
        assert values(heap, "y.a") == values(heap, "y.b") == (3, 0)


def test_beside_a_plain_tensor_it_is_plain() -> None:
    """No handler is asked, and its memory is read."""
    heap = done(torn(), Product("t", "t", "y"))

    assert values(heap, "y") == (1, 4)


def test_what_a_handler_reads_can_be_gone() -> None:
    """An inner tensor over no storage crashes it, as everything else."""
    heap = done(torn(), SetData("t.a", "m.weight"))

    assert isinstance(step(heap, Product("t", "m.weight", "y"), spec(NEW)), Undefined)


def test_the_copy_of_what_has_come_to_be_uninitialized() -> None:
    """`UninitializedParameter.__deepcopy__` reads `.data`, which a handler refuses."""
    b = Builder()
    b.name("p", "tensor", b.parameter((3, 4), cls="TwoTensor"))
    b.name("u", "tensor", b.parameter((), cls="UninitializedParameter"))
    heap = done(b.heap(), TakeWeakref("_WeakTensorRef", "p", "r"))
    heap = refused(heap, SwapTensors("p", "u")).heap

    assert refused(heap, Deepcopy("p", "q")).rule == "dispatch/no-handler"
    assert heap.tensor(at(heap, "p")).cls == "UninitializedParameter"


@pytest.mark.parametrize(
    ("under", "node"), [(NO_SWAP, "AsStridedBackward0"), (LATE, "ViewBackward0")]
)
def test_a_stale_view_of_a_wrapper(under: str, node: str) -> None:
    """Since 2.3 it is viewed again; before, it was made again as if it had memory."""
    heap = done(module("TwoTensor"), View("p", "v"), Write("p"), under=under)

    assert [name for name, _, _ in observe(heap).nodes] == [node, "AccumulateGrad"]
    after = done(heap, Backward("v"), under=under)
    assert values(after, "p.grad.a") == values(after, "p.grad.b") == (1, 1)
