"""Edges: the node of a view is made again after a write, or refused."""

import pytest

from swapmodel.actions import (
    Backward,
    CastData,
    Forward,
    RegisterHook,
    RequiresGrad,
    RetainGrad,
    SwapTensors,
    View,
    Write,
)
from swapmodel.outcomes import Undefined
from swapmodel.semantics.edges import grad_fn
from swapmodel.semantics.step import step
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from tests.heaps import NEW, at, done, module, refused, spec, values


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


def test_a_first_hook_on_a_stale_view() -> None:
    """The dict that is being registered is gone by then."""
    heap = done(module(), View("p", "v"), Write("p"))
    outcome = step(heap, RegisterHook("v", "h"), spec(NEW))

    assert isinstance(outcome, Undefined)


@pytest.mark.parametrize("kind", ["tensor", "post-accumulate", "node"])
def test_hooks_need_a_gradient(kind: str) -> None:
    """A tensor outside any graph takes no hook and retains nothing."""
    rule = "edge/no-grad" if kind == "node" else "hook/no-grad"

    assert refused(module(), RegisterHook("t", "h", kind)).rule == rule  # type: ignore[arg-type]
    assert refused(module(), RetainGrad("t")).rule == "retain-grad/no-grad"


def test_a_post_accumulate_hook_needs_a_leaf() -> None:
    """A computed tensor accumulates nothing."""
    heap = done(module(), Forward("scale", "p", "y"))

    assert refused(heap, RegisterHook("y", "h", "post-accumulate")).rule == (
        "hook/not-a-leaf"
    )


def test_integers_require_no_gradient() -> None:
    """The flag can be cleared of integers and not set."""
    heap = done(module(), RequiresGrad("t", False), CastData("t", "int64"))

    assert refused(heap, RequiresGrad("t")).rule == "requires-grad/dtype"


def test_a_view_bars_a_swap() -> None:
    """A view that only its base makes require a gradient has no edge to poison."""
    heap = done(module(), View("p", "v", grad_mode=False), Forward("square", "v", "y"))

    assert refused(heap, SwapTensors("v", "t")).rule == "edge/no-function"
