"""Backward: what a graph is walked for, and what refuses it."""

import pytest

from swapmodel.actions import (
    Action,
    Backward,
    CastData,
    Forward,
    Product,
    RequiresGrad,
    SetData,
    SwapTensors,
    View,
)
from swapmodel.semantics.backward import Arrived, arrive, backward
from swapmodel.semantics.nodes import ANOTHER_DEVICE
from swapmodel.semantics.payloads import Dense, Wrapped, leaves, read
from swapmodel.semantics.step import step
from swapmodel.state.autograd import Node
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap, living
from swapmodel.state.ids import NodeId
from tests.heaps import NEW, at, done, module, refused, spec, values

Y = Forward("scale", "p", "y")
SQUARED = Forward("square", "p", "y")


@pytest.mark.parametrize(
    ("program", "gradient"),
    [
        ((Y, Backward("y")), (3, 3)),
        ((SQUARED, Backward("y")), (6, 0)),
        ((View("p", "v"), Backward("v")), (1, 1)),
        ((Y, Forward("square", "y", "z"), Backward("z")), (6, 0)),
        ((SQUARED, View("y", "z"), Forward("scale", "z", "w"), Backward("w")), (2, 0)),
        ((Backward("p"),), (1, 1)),
        ((Y, Backward("y"), Backward("p")), (4, 4)),
    ],
)
def test_gradients(program: tuple[Action, ...], gradient: tuple[int, ...]) -> None:
    """A leaf gets the gradient of the whole way, added to what it has."""
    assert values(done(module(), *program), "p.grad") == gradient


def test_gradients_of_a_wrapper() -> None:
    """A wrapper's gradient is a wrapper."""
    heap = done(module("TwoTensor"), SQUARED, Backward("y"))

    assert leaves(read(heap, at(heap, "p.grad"))) == ((6, 0), (6, 0))  # type: ignore[arg-type]
    assert heap.tensor(at(heap, "p.grad")).cls == "TwoTensor"


def test_adding_in_place() -> None:
    """A second gradient is added to the first one, which counts the write."""
    once = done(module(), Y, Backward("y"))
    twice = done(once, Forward("scale", "p", "z"), Backward("z"))

    assert at(once, "p.grad") == at(twice, "p.grad")
    assert values(twice, "p.grad") == (6, 6)
    assert [version(one, "p.grad") for one in (once, twice)] == [0, 1]


def version(heap: Heap, place: str) -> int:
    """`t._version` of the tensor at a place."""
    return heap.version(heap.impl_of(at(heap, place)).counter)


def diamond() -> tuple[Draft, Heap]:
    """A graph in which two ways lead from `y` to `p`, and one leads nowhere."""
    heap = done(module(), Y)
    draft = Draft(heap)
    grad_fn = heap.meta_of(at(heap, "y")).grad_fn
    assert grad_fn is not None
    ways = tuple(
        draft.add_node(
            Node(
                name="MulBackward0",
                function="scale",
                dtype="float32",
                length=2,
                edges=heap.node(grad_fn).edges,
            )
        )
        for _ in range(2)
    )
    draft.edit_node(grad_fn).edges = (*ways, None)
    return draft, heap


def test_gradients_meet_before_they_go_on() -> None:
    """A node waits for every gradient that is on its way to it."""
    draft, heap = diamond()

    assert backward(draft, at(heap, "y")) is None
    assert values(draft.frozen(), "p.grad") == (2, 2)
    assert version(draft.frozen(), "p.grad") == 1


def test_the_node_says_the_dtype() -> None:
    """A gradient is cast to the dtype that the leaf had when its node was made."""
    heap = done(module(), Y, CastData("p", "float64"), Backward("y"))

    assert heap.impl_of(at(heap, "p.grad")).dtype == "float32"


def test_what_is_read_is_what_is_there() -> None:
    """`t.data = u` between forward and backward is not noticed."""
    heap = done(module(), SQUARED, SetData("p", "t"), Backward("y"))

    assert values(heap, "p.grad") == (2, 4)


@pytest.mark.parametrize(
    ("action", "again"),
    [(Y, "backward/freed"), (SQUARED, "backward/freed"), (View("p", "y"), None)],
)
def test_a_second_backward(action: Action, again: str | None) -> None:
    """A node that saved anything runs once; a view runs as often as one likes."""
    heap = done(module(), action, Backward("y"))

    if again is None:
        assert values(done(heap, Backward("y")), "p.grad") == (2, 2)
    else:
        assert refused(heap, Backward("y")).rule == again


def test_backward_frees_what_was_saved() -> None:
    """After a backward the graph owns its leaf through the last node only."""
    heap = done(module(), SQUARED, Backward("y"))

    assert [node.saved for _, node in living(heap.nodes)] == [(), ()]


@pytest.mark.parametrize(
    ("before", "place", "rule"),
    [
        ((), "t", "backward/no-graph"),
        ((Y, SwapTensors("p", "t")), "y", "backward/poisoned"),
    ],
)
def test_refusals(before: tuple[Action, ...], place: str, rule: str) -> None:
    """Backward is refused outside any graph and where a swap poisoned the leaf."""
    outcome = refused(done(module(), *before), Backward(place))

    assert outcome.rule == rule
    assert outcome.heap.grad_of(at(outcome.heap, "p")) is None
    assert outcome.heap.grad_of(at(outcome.heap, "t")) is None


def test_a_write_in_place_is_noticed() -> None:
    """A saved tensor that was written since is refused, by its version."""
    heap = done(module(), SQUARED)
    p = heap.impl_of(at(heap, "p")).counter
    written = Draft(heap)
    written.counters[p] += 1

    assert refused(written.sealed(), Backward("y")).rule == "backward/written-in-place"


def test_a_failing_node_keeps_what_ran_before() -> None:
    """What ran before the node that refuses has been freed."""
    heap = done(module(), Y, Forward("square", "y", "z"), SwapTensors("p", "t"))
    outcome = refused(heap, Backward("z"))
    freed = {node.name: node.freed for _, node in living(outcome.heap.nodes)}

    assert freed == {
        "MulBackward0": True,
        "PowBackward0": True,
        "AccumulateGrad": False,
    }


def test_a_gradient_that_cannot_be_read() -> None:
    """Adding to a gradient over a null storage is undefined."""
    heap = done(module("TwoTensor"), Backward("p"), SetData("t", "p"))
    draft = Draft(heap)
    grad = draft.tensor(at(heap, "t")).impl
    draft.edit_meta(draft.tensor(at(heap, "p")).impl).grad = grad
    outcome = step(draft.sealed(), Backward("p"), spec(NEW))

    assert outcome.why == "a null storage is read"  # type: ignore[union-attr]


def test_gradients_of_two_devices() -> None:
    """Where two meet in an inner tensor, the model declines."""
    cpu, cuda = (Dense("float32", one, 2, (1, 1)) for one in ("cpu", "cuda"))
    wrapper = Wrapped("TwoTensor", (("a", cpu), ("b", cuda)))
    arrived: dict[NodeId, Arrived] = {}
    first, second = Arrived(cpu), Arrived(wrapper)

    assert arrive(arrived, NodeId(0), first) is None
    assert arrive(arrived, NodeId(0), second) is ANOTHER_DEVICE
    assert arrived == {NodeId(0): Arrived(cpu)}


# -- Sizes -----------------------------------------------------------------------------


def resized(*program: Action) -> Heap:
    """A heap after a program, with a `u` of one element and a wrapper beside."""
    build = Builder()
    build.name("p", "tensor", build.parameter())
    build.name("u", "tensor", build.tensor((5,)))
    build.name("w", "tensor", build.parameter(cls="TwoTensor"))
    return done(build.heap(), *program)


def test_a_saved_tensor_of_another_size() -> None:
    """What a node gives is broadcast, as the product is that it computes."""
    heap = resized(SQUARED, SetData("p", "u"), Backward("y"))

    assert values(heap, "p.grad") == (2, 2)


@pytest.mark.parametrize(
    ("program", "rule"),
    [
        (
            (Y, SetData("p", "u"), Forward("scale", "p", "z"), Backward("z")),
            "backward/invalid-gradient",
        ),
        ((SetData("w.a", "u"), Backward("w")), "backward/mismatch"),
        ((Y, SetData("y", "u"), Backward("y")), "backward/invalid-root"),
        ((Backward("p"), SetData("p.grad", "u"), Backward("p")), "add/size"),
    ],
)
def test_another_size(program: tuple[Action, ...], rule: str) -> None:
    """A gradient that is smaller than a node recorded, or larger than `.grad`."""
    outcome = refused(resized(*program[:-1]), program[-1])

    assert outcome.rule == rule


def test_a_gradient_is_summed_to_the_size_of_its_leaf() -> None:
    """What was broadcast in the forward is summed in the backward."""
    heap = resized(RequiresGrad("u"), Product("p", "u", "y"), Backward("y"))

    assert (values(heap, "p.grad"), values(heap, "u.grad")) == ((5, 5), (3,))


def test_a_gradient_of_integers() -> None:
    """Floats cannot be added in place to integers."""
    heap = done(module(), CastData("m.weight.grad", "int64"))

    assert refused(heap, Backward("m.weight")).rule == "add/dtype"
