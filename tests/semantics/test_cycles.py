"""What nobody collects is declined once nobody reaches it."""

from swapmodel.actions import Backward, Drop, Forward, Product, SetGrad, View
from swapmodel.outcomes import OutOfScope
from swapmodel.semantics.cycles import leaks
from swapmodel.semantics.step import step
from swapmodel.state.draft import Draft
from tests.heaps import NEW, at, done, module, spec


def test_a_cycle_through_a_gradient_is_declined() -> None:
    """Nobody collects it; as long as it is reached, it does no harm."""
    start = done(module(grad=False), SetGrad("p", "t"), SetGrad("t", "p"))
    one = done(start, Drop("p"))

    assert isinstance(step(one, Drop("t"), spec(NEW)), OutOfScope)


def test_a_cycle_through_a_graph_is_one() -> None:
    """A gradient that a graph computed from its tensor leads back to that."""
    start = done(module(grad=False), Forward("scale", "p", "y"), SetGrad("p", "y"))
    one = done(start, Drop("y"))

    assert not leaks(Draft(one))
    assert isinstance(step(one, Drop("p"), spec(NEW)), OutOfScope)


def test_a_cycle_through_a_wrapper_is_one() -> None:
    """So does a gradient that wraps its tensor, and one that is a view of it."""
    wrapped = done(module("TwoTensor", grad=False), SetGrad("p.a", "p"))
    viewed = done(module(grad=False), View("t", "v"), SetGrad("t", "v"), Drop("v"))

    assert isinstance(step(wrapped, Drop("p"), spec(NEW)), OutOfScope)
    assert isinstance(step(viewed, Drop("t"), spec(NEW)), OutOfScope)


def test_a_gradient_that_leads_elsewhere_is_none() -> None:
    """Two gradients in a row, and a graph that ends, can die."""
    one = done(module(), SetGrad("m.weight.grad", "t"), Forward("scale", "p", "y"))
    two = done(one, SetGrad("m.weight", "y"), Backward("y"))

    done(two, Drop("y"), Drop("p"), Drop("t"), Drop("m"))


def test_a_graph_is_walked_once() -> None:
    """Two ways to one node, and an edge that leads nowhere, lead to the leaf."""
    twice = Forward("scale", "p", "y"), Product("y", "y", "z")
    nowhere = View("m.weight", "v", grad_mode=False), Product("v", "p", "z")

    for program in (twice, nowhere):
        heap = done(module(grad=False), *program, SetGrad("p", "z"))
        names = [name for name, *_ in heap.names if name in ("y", "z", "v")]
        heap = done(heap, *map(Drop, names))
        assert isinstance(step(heap, Drop("p"), spec(NEW)), OutOfScope)


def test_a_graph_of_another_leaf_is_no_cycle() -> None:
    """A gradient that two ways of one graph compute from another tensor can die."""
    heap = done(module(grad=False), Forward("scale", "m.weight", "y"))
    heap = done(heap, Product("y", "y", "z"), SetGrad("p", "z"), Drop("z"), Drop("y"))

    assert not leaks(Draft(heap))
    assert at(done(heap, Drop("p")), "m.weight") == at(heap, "m.weight")


def test_a_long_graph_and_its_cycle() -> None:
    """What is longer than Python's stack is walked as well."""
    heap = done(module(grad=False), Forward("scale", "p", "y"))
    for _ in range(1500):
        heap = done(heap, Forward("scale", "y", "y"))
    heap = done(heap, SetGrad("p", "y"))
    assert not leaks(Draft(heap))
    assert isinstance(step(done(heap, Drop("y")), Drop("p"), spec(NEW)), OutOfScope)
