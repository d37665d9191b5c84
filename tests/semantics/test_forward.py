"""Forward: what a function computes, and what it records for its backward."""

import pytest

from swapmodel.actions import (
    Action,
    Backward,
    Convert,
    Forward,
    Product,
    SwapTensors,
    TakeWeakref,
    View,
    Write,
)
from swapmodel.conversions import Type
from swapmodel.outcomes import OutOfScope, Refused
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.semantics.edges import gradient_edge
from swapmodel.semantics.payloads import leaves, read
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from tests.heaps import NEW, at, done, module, refused, spec, values

Y = Forward("scale", "p", "y")


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (Forward("scale", "p", "y"), (1, 4)),
        (Forward("square", "p", "y"), (1, 0)),
        (View("p", "y"), (3, 4)),
    ],
)
def test_outputs(action: Action, expected: tuple[int, ...]) -> None:
    """An output holds the function of its input, modulo 8."""
    plain, wrapper = done(module(), action), done(module("TwoTensor"), action)
    payload = read(wrapper, at(wrapper, "y"))

    assert values(plain, "y") == expected
    assert leaves(payload) == (expected, expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("action", "name", "saves"),
    [
        (Forward("scale", "p", "y"), "MulBackward0", 0),
        (Forward("square", "p", "y"), "PowBackward0", 1),
        (View("p", "y"), "ViewBackward0", 0),
    ],
)
def test_nodes(action: Action, name: str, saves: int) -> None:
    """An output knows its node, which leads to the leaf's `AccumulateGrad`."""
    heap = done(module(), action)
    grad_fn = heap.meta_of(at(heap, "y")).grad_fn
    assert grad_fn is not None
    node = heap.node(grad_fn)
    i = heap.tensor(at(heap, "p")).impl

    assert (node.name, node.dtype, node.length) == (name, "float32", 2)
    assert [heap.node(n).variable for n in node.edges if n is not None] == [i]
    assert [saved.impl for saved in node.saved] == [i] * saves
    assert heap.meta(i).accumulator == node.edges[0]
    assert requires_grad(heap, at(heap, "y"))


@pytest.mark.parametrize("action", [Forward("square", "t", "y"), View("t", "y")])
def test_nothing_is_recorded_without_need(action: Action) -> None:
    """What requires no gradient leaves no node behind."""
    heap = done(module(), action)

    assert heap.nodes == ()
    assert not requires_grad(heap, at(heap, "y"))


def test_views_share_and_own_the_root() -> None:
    """A view of a view is a view of the first base, over one storage and counter."""
    heap = done(module(), View("p", "v"), View("v", "w"))
    impls = [heap.impl_of(at(heap, place)) for place in ("p", "v", "w")]
    base = heap.tensor(at(heap, "p")).impl

    assert [heap.meta_of(at(heap, one)).base for one in "vw"] == [base, base]
    assert len({(impl.storage, impl.counter) for impl in impls}) == 1


def test_one_accumulator_for_one_leaf() -> None:
    """Every graph over a leaf ends in the same node, as long as it lives."""
    heap = done(module(), Y, Forward("square", "p", "z"))
    draft = Draft(heap)
    edges = {gradient_edge(draft, at(heap, "p")) for _ in range(2)}

    assert edges == {heap.meta_of(at(heap, "p")).accumulator}
    assert len(heap.nodes) == 3
    assert gradient_edge(draft, at(heap, "y")) == heap.meta_of(at(heap, "y")).grad_fn


def test_operands_that_cannot_be_read() -> None:
    """A torn wrapper is refused as either operand of a product, and as a view's."""
    heap = done(module("TwoTensor"), TakeWeakref("_WeakTensorRef", "p", "r"))
    torn = refused(heap, SwapTensors("p", "t")).heap

    for action in (Product("p", "m.weight", "y"), Product("m.weight", "p", "y")):
        assert refused(torn, action).rule == "dispatch/no-handler"
    assert refused(torn, View("p", "v")).rule == "dispatch/no-handler"


def test_operands_without_a_node() -> None:
    """A stale view under `no_grad` can be read, and takes part in no graph."""
    heap = done(module(), View("p", "v", grad_mode=False), Write("v"))

    for action in (View("v", "w"), Product("p", "v", "y"), Forward("relu", "v", "y")):
        assert refused(heap, action).rule == "view/no-grad"
    then = done(heap, View("v", "w", grad_mode=False))
    assert then.meta_of(at(then, "w")).no_grad_view


def test_operands_on_two_devices() -> None:
    """A product with a tensor on `meta` is refused and names both devices."""
    b = Builder()
    b.name("p", "tensor", b.parameter())
    b.name("q", "tensor", b.parameter(device="meta"))
    outcome = refused(b.heap(), Product("p", "q", "y"))

    assert outcome.rule == "forward/device"
    assert outcome.refusal.facts == (("expected", "cpu"), ("device", "meta"))


def test_operands_of_two_sizes() -> None:
    """Nothing is broadcast to no elements but one; on `meta` the model declines."""
    for device in ("cpu", "meta"):
        b = Builder()
        b.name("p", "tensor", b.parameter(device=device))
        b.name("q", "tensor", b.parameter((), device=device))
        outcome = step(b.heap(), Product("p", "q", "y"), spec(NEW))

        if device == "meta":
            assert isinstance(outcome, OutOfScope)
        else:
            assert isinstance(outcome, Refused)
            assert outcome.rule == "forward/size"


def test_complex_tensors() -> None:
    """They have no order, and a real gradient of theirs is a part of a complex one."""
    build = Builder()
    build.name("z", "tensor", build.parameter(dtype="complex64"))
    build.name("w", "tensor", build.parameter())
    heap = build.heap()
    declined = (Forward("relu", "z", "y"), Product("z", "w", "y"))
    fine = (Forward("square", "z", "y"), Product("z", "w", "y", grad_mode=False))

    assert all(isinstance(step(heap, one, spec(NEW)), OutOfScope) for one in declined)
    assert all(values(done(heap, one), "y") for one in fine)


def test_a_complex_gradient_does_not_fit_a_real_one() -> None:
    """The node that a cast has left behind brings a gradient of its old dtype."""
    build = Builder()
    z = build.parameter(dtype="complex64")
    build.gradient(z, build.tensor(dtype="complex64"))
    build.name("m", "module", build.module({"z": z}))
    heap = done(build.heap(), Forward("square", "m.z", "y"))
    cast = done(heap, Convert("m", Type("float16")))
    refusal = refused(cast, Backward("y")).refusal

    assert (refusal.rule, dict(refusal.facts)["dtype"]) == ("add/dtype", "complex64")
