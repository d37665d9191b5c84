"""Edges: the node of a view is made again after a write, or refused."""

import pytest

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    CastData,
    Convert,
    Deepcopy,
    Forward,
    MakeOptimizer,
    Product,
    Register,
    RegisterHook,
    RequiresGrad,
    RetainGrad,
    SetData,
    SetGrad,
    SwapTensors,
    TakeWeakref,
    View,
    Write,
)
from swapmodel.conversions import ToDevice
from swapmodel.semantics.edges import grad_fn
from swapmodel.semantics.ownership import owners
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from tests.heaps import at, done, module, refused, values, with_row


def names(heap: Heap, place: str) -> list[str]:
    """The names of the nodes that lead from a tensor to its leaf."""
    draft = Draft(heap)
    found, n = [], grad_fn(draft, at(heap, place))
    while isinstance(n, int):
        found.append(draft.node(n).name)
        n = next(iter(draft.node(n).edges), None)
    return found


def test_a_stale_view_is_made_again() -> None:
    """A plain view gets a strided node, and those of a wrapper are replayed."""
    program = View("m.weight", "v"), View("v", "w"), Write("m.weight")
    plain, wrapper = done(module(), *program), done(module("TwoTensor"), *program)

    assert names(plain, "w") == ["AsStridedBackward0", "AccumulateGrad"]
    assert names(wrapper, "w") == ["ViewBackward0", "ViewBackward0", "AccumulateGrad"]


def test_a_stale_view_sends_its_gradient() -> None:
    """The base gets what the view gets; a retained gradient stays retained."""
    heap = done(module(), View("p", "v"), RetainGrad("v"), Write("p"), Backward("v"))

    assert (values(heap, "p.grad"), values(heap, "v.grad")) == ((1, 1), (1, 1))


def test_a_view_under_no_grad() -> None:
    """It requires a gradient as its base does, has no node, and is refused if stale."""
    heap = done(module(), View("p", "v", grad_mode=False))
    then = done(heap, View("v", "w"), Write("v"))

    assert refused(heap, Backward("v")).rule == "backward/no-graph"
    assert refused(then, Forward("scale", "v", "y")).rule == "view/no-grad"
    assert refused(then, Backward("w")).rule == "view/of-no-grad"
    assert refused(heap, RegisterHook("v", "h", "node")).rule == "edge/no-function"


def test_a_wrapper_whose_base_left_the_graph() -> None:
    """Replaying its view is not foreseen; the view has no node afterwards."""
    heap = done(module("TwoTensor"), View("p", "v"), RequiresGrad("p", False))
    outcome = refused(done(heap, Write("p")), Forward("scale", "v", "y"))

    assert outcome.rule == "view/base-no-grad"
    assert names(outcome.heap, "v") == []


def stale(grad_mode: bool, overwrite: bool = False) -> Heap:
    """A module with a view that was a leaf parameter until its base was written."""
    b = Builder(overwrite=overwrite)
    base = b.tensor((1, 2))
    w = b.mark(b.view(b.share(b.tensor(requires_grad=True), base), base))
    b.name("m", "module", b.module({"weight": w}))
    b.name("t", "tensor", base)
    heap = b.heap()
    if not grad_mode:
        i = heap.tensor(w).impl
        heap = with_row(heap, "metas", i, no_grad_view=True)
    return done(heap, RequiresGrad("t"), Write("t"))


META = Convert("m", ToDevice("meta"))


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        (META, "convert/not-a-leaf"),
        (Register("m", "key", "m.weight"), "module/not-a-leaf"),
        (Deepcopy("m.weight", "c"), "deepcopy/not-a-leaf"),
        (MakeOptimizer("SGD", "m", "o"), "optimizer/non-leaf"),
    ],
)
def test_a_stale_view_is_no_leaf(action: Action, rule: str) -> None:
    """`is_leaf` makes its node again, or is refused where that is forbidden."""
    assert refused(stale(True), action).rule == rule
    assert refused(stale(False), action).rule == "view/no-grad"


def test_a_gradient_that_is_a_stale_view() -> None:
    """What a conversion gives is looked at, and the old one where it is assigned."""
    heap = module(grad=False, overwrite=True)
    for grad_mode, rule in (
        (True, "convert/gradient-not-a-leaf"),
        (False, "view/no-grad"),
    ):
        then = done(heap, View("t", "v", grad_mode=grad_mode), RequiresGrad("v"))
        then = done(then, SetGrad("m.weight", "v"), RequiresGrad("t"), Write("t"))

        assert refused(then, Convert("m", Cast("float64"))).rule == rule


def test_a_wrapper_that_is_torn_inside() -> None:
    """Its stale view cannot be replayed, whoever asks for the node."""
    b = Builder()
    inner = {"a": b.tensor(cls="TwoTensor"), "b": b.tensor()}
    b.name("p", "tensor", b.parameter(cls="TwoTensor", inner=inner))
    b.name("t", "tensor", b.tensor((5, 6)))
    heap = done(b.heap(), View("p", "v"), TakeWeakref("_WeakTensorRef", "p.a", "r"))
    heap = done(refused(heap, SwapTensors("p.a", "t")).heap, Write("v"))

    for action in (Forward("scale", "v", "y"), RegisterHook("v", "h"), Backward("v")):
        assert refused(heap, action).rule == "dispatch/no-handler"


def test_a_stale_view_outside_any_graph() -> None:
    """It has no node and sends nothing on."""
    heap = done(module(), View("t", "v"), Write("t"), Product("v", "p", "y"))
    heap = done(heap, Backward("y"))

    assert values(heap, "p.grad") == (6, 7)
    assert names(heap, "v") == []


def test_a_stale_view_of_what_a_graph_computed() -> None:
    """It sends its gradient to the node of its base."""
    y = Forward("scale", "p", "y")
    heap = done(module(), y, View("y", "v"), Write("y"))

    assert names(heap, "v") == ["AsStridedBackward0", "MulBackward0", "AccumulateGrad"]
    assert values(done(heap, Backward("v")), "p.grad") == (3, 3)


def test_two_views_of_a_wrapper_are_replayed() -> None:
    """Both functions own what they replay."""
    heap = done(module("TwoTensor"), View("p", "v"), View("v", "w"))
    base = heap.tensor(at(heap, "p")).impl
    kinds = [kind for kind, _ in owners(heap, base)]

    assert sorted(kinds) == [
        "AccumulateGrad",
        "python object",
        "view",
        "view",
        "view function",
        "view function",
    ]


@pytest.mark.parametrize("inner", ["a", "b"])
def test_an_edge_is_read_off_a_view(inner: str) -> None:
    """A wrapper must be as large as each of its inner tensors."""
    b = Builder()
    b.name("p", "tensor", b.parameter(cls="TwoTensor"))
    b.name("one", "tensor", b.tensor((5,)))
    heap = done(b.heap(), SetData(f"p.{inner}", "one"))
    outcome = refused(heap, RegisterHook("p", "h", "node"))

    assert outcome.rule == "edge/view-as"
    assert outcome.refusal.facts == (("size", 2), ("expected", 1))


def test_a_swap_asks_for_the_node() -> None:
    """A stale view with two owners is refused before they are counted."""
    heap = done(module(), View("p", "v", grad_mode=False), SetGrad("t", "v"))
    heap = done(heap, Write("v"))

    assert refused(heap, SwapTensors("v", "t")).rule == "view/no-grad"


def test_integers_require_no_gradient() -> None:
    """The flag can be cleared of integers and not set."""
    heap = done(module(), RequiresGrad("t", False), CastData("t", "int64"))

    assert refused(heap, RequiresGrad("t")).rule == "requires-grad/dtype"


def test_a_view_bars_a_swap() -> None:
    """A view that only its base makes require a gradient has no edge to poison."""
    heap = done(module(), View("p", "v", grad_mode=False), Forward("square", "v", "y"))

    assert refused(heap, SwapTensors("v", "t")).rule == "edge/no-function"
