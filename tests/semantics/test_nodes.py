"""Nodes: what each sends on, and what the last one accumulates."""

import pytest

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    Convert,
    Forward,
    Product,
    Register,
    RequiresGrad,
    RetainGrad,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
    Write,
)
from swapmodel.outcomes import OutOfScope
from swapmodel.semantics.places import resolve
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import NEW, at, done, module, refused, spec, values

Y = Forward("scale", "p", "y")
NO_GRAD_VIEW = View("p", "v", grad_mode=False)


def pair() -> Heap:
    """Parameters `p`, with a zero, and `q`; a wrapper `w`, and `one` element."""
    b = Builder()
    b.name("p", "tensor", b.parameter((0, 3)))
    b.name("q", "tensor", b.parameter((2, 5)))
    b.name("w", "tensor", b.parameter((2, 3), cls="TwoTensor"))
    b.name("one", "tensor", b.parameter((5,)))
    return b.heap()


@pytest.mark.parametrize(
    ("action", "gradient"),
    [
        (Forward("scale", "p", "y"), (3, 3)),
        (Forward("square", "p", "y"), (0, 6)),
        (Forward("relu", "p", "y"), (0, 1)),
        (View("p", "y"), (1, 1)),
        (Product("p", "q", "y"), (2, 5)),
        (Product("q", "p", "y"), (2, 5)),
        (Product("p", "p", "y"), (0, 6)),
    ],
)
def test_derivatives(action: Action, gradient: tuple[int, ...]) -> None:
    """Each function sends the product of what comes and of its derivative."""
    assert values(done(pair(), action, Backward("y")), "p.grad") == gradient


@pytest.mark.parametrize("function", ["scale", "square", "relu"])
def test_a_node_without_edges(function: str) -> None:
    """A view that only its base makes require a gradient takes none."""
    heap = done(pair(), NO_GRAD_VIEW, Forward(function, "v", "y"))  # type: ignore[arg-type]
    then = done(heap, Backward("y"))

    assert resolve(then, "p.grad") is resolve(then, "v.grad") is None


def test_a_copy_of_what_takes_no_gradient() -> None:
    """A buffer that is such a view is cast in the graph, and sends nothing."""
    heap = done(module(grad=False), NO_GRAD_VIEW, Register("m", "b", "v", "buffer"))
    then = done(heap, Convert("m", Cast("float64")), Backward("m.b"))

    assert resolve(then, "p.grad") is resolve(then, "v.grad") is None


def test_one_operand_without_an_edge() -> None:
    """A product sends a gradient to the other one, and saves nothing for this one."""
    heap = done(pair(), NO_GRAD_VIEW, Product("v", "q", "y"))

    assert [len(one.saved) for one in heap.nodes if one.function == "product"] == [1]
    assert values(done(heap, Backward("y")), "q.grad") == (0, 3)


def test_a_saved_view_that_is_stale() -> None:
    """Its node is asked for first, and refused before its version is compared."""
    heap = done(pair(), NO_GRAD_VIEW, Product("v", "q", "y"), Write("v"))

    assert refused(heap, Backward("y")).rule == "view/no-grad"


def test_a_saved_tensor_that_is_torn() -> None:
    """An inner wrapper without its class cannot be read."""
    b = Builder()
    inner = {"a": b.tensor(cls="TwoTensor"), "b": b.tensor()}
    b.name("p", "tensor", b.parameter(cls="TwoTensor", inner=inner))
    b.name("t", "tensor", b.tensor((5, 6)))
    heap = done(b.heap(), Forward("square", "p", "y"))
    heap = done(heap, TakeWeakref("_WeakTensorRef", "p.a", "r"))
    torn = refused(heap, SwapTensors("p.a", "t")).heap

    assert refused(torn, Backward("y")).rule == "dispatch/no-handler"


# -- Gradients that are wrappers, or of another size ----------------------------------


def test_a_wrapper_for_a_stale_view_of_a_plain_tensor() -> None:
    """Each inner tensor is put where the view lies in its base."""
    heap = done(pair(), View("p", "v"), Write("p"), Product("v", "w", "y"))
    then = done(heap, Backward("y"))

    assert then.tensor(at(then, "p.grad")).cls == "TwoTensor"
    assert values(then, "p.grad.a") == values(then, "p.grad.b") == (2, 3)


def test_a_wrapper_for_one_element() -> None:
    """Each inner tensor is summed."""
    then = done(pair(), Product("one", "w", "y"), Backward("y"))

    assert values(then, "one.grad.a") == values(then, "one.grad.b") == (5,)
    assert values(then, "w.grad.a") == (5, 5)


def test_a_stale_view_on_meta() -> None:
    """Its base gets a gradient of its size, of which nobody can say the values."""
    b = Builder()
    b.name("p", "tensor", b.parameter(device="meta"))
    then = done(b.heap(), View("p", "v"), Write("p"), Backward("v"))

    assert values(then, "p.grad") is None
    assert then.impl_of(at(then, "p.grad")).length == 2


# -- What is accumulated --------------------------------------------------------------


def test_a_leaf_that_requires_no_gradient_any_more() -> None:
    """Its node is still run, and accumulates nothing."""
    heap = done(module(), Y, RequiresGrad("p", False), Backward("y"))

    assert resolve(heap, "p.grad") is None


@pytest.mark.parametrize(
    ("grad_mode", "rule"), [(True, "accumulate/not-a-leaf"), (False, "view/no-grad")]
)
def test_a_leaf_that_is_none_any_more(grad_mode: bool, rule: str) -> None:
    """A view of a tensor that came to require a gradient, once it is stale."""
    heap = done(module(), View("t", "v", grad_mode=grad_mode), RequiresGrad("v"))
    heap = done(heap, Forward("scale", "v", "y"), RequiresGrad("t"), Write("t"))

    assert refused(heap, Backward("y")).rule == rule


def test_writes_of_a_first_gradient() -> None:
    """Two that meet are summed in place; one that is summed up is new again."""
    sums = done(pair(), Product("p", "p", "y"), Backward("y"))
    strided = done(pair(), View("p", "v"), Write("p"), Backward("v"))
    resized = (Forward("scale", "one", "y"), View("one", "v"), SetData("one", "q"))
    summed = done(pair(), *resized, Write("one"), Backward("v"))

    assert version(sums, "p.grad") == 1
    assert version(strided, "p.grad") == 1
    assert version(summed, "one.grad") == 0


def version(heap: Heap, place: str) -> int:
    """`t._version` of the tensor at a place."""
    return heap.version(heap.impl_of(at(heap, place)).counter)


@pytest.mark.parametrize(
    "program",
    [
        (Forward("square", "p", "y"), SetData("p", "c"), Backward("y")),
        (Y, SetData("y", "c"), Backward("y")),
        (Y, SetData("y", "c"), Forward("scale", "y", "z"), Backward("z")),
        (Backward("p"), SetData("p", "c"), Backward("p")),
        (
            View("p", "v"),
            RetainGrad("v"),
            Backward("v"),
            SetData("v.grad", "c"),
            Backward("v"),
        ),
        (
            Forward("scale", "w", "y"),
            SetData("y.b", "c"),
            Register("m", "b", "y", "buffer"),
            Convert("m", Cast("float64")),
            Forward("scale", "y", "z"),
            Product("m.b", "z", "x"),
            Backward("x"),
        ),
    ],
)
def test_devices_that_meet(program: tuple[Action, ...]) -> None:
    """`t.data = u` can move a tensor behind its gradient; the model declines."""
    b = Builder()
    b.name("p", "tensor", b.parameter())
    b.name("c", "tensor", b.tensor(device="cuda"))
    b.name("w", "tensor", b.parameter(cls="TwoTensor"))
    b.name("m", "module", b.module())
    heap = done(b.heap(), *program[:-1])

    assert isinstance(step(heap, program[-1], spec(NEW)), OutOfScope)
