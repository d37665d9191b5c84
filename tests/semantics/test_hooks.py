"""Hooks: in which dict they are listed, when they fire, and what takes none."""

import pytest

from swapmodel.actions import (
    Action,
    Backward,
    Drop,
    Forward,
    HookKind,
    Product,
    RegisterHook,
    RequiresGrad,
    RetainGrad,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
    Write,
)
from swapmodel.outcomes import Done, Undefined
from swapmodel.semantics.step import step
from swapmodel.state.events import Fired
from swapmodel.state.heap import Heap
from tests.heaps import NEW, at, done, module, refused, spec, values

Y = Forward("scale", "p", "y")
NO_GRAD_VIEW = View("p", "v", grad_mode=False)


def fired(heap: Heap, action: Action) -> tuple[tuple[str, str], ...]:
    """What fires in an action, in order."""
    outcome = step(heap, action, spec(NEW))
    assert isinstance(outcome, Done), outcome
    events = (one for one in outcome.events if isinstance(one, Fired))
    return tuple((one.hook, one.kind) for one in events)


@pytest.mark.parametrize("kind", ["tensor", "post-accumulate", "node"])
def test_hooks_fire_in_the_order_of_registration(kind: HookKind) -> None:
    """Both hooks of a leaf are in one dict."""
    hooks = (RegisterHook("p", "first", kind), RegisterHook("p", "second", kind))
    heap = done(module(), Y, *hooks)

    assert fired(heap, Backward("y")) == (("first", kind), ("second", kind))
    assert len([one for one in heap.hooks if one is not None]) == 1


def test_kinds_of_hooks_fire_apart() -> None:
    """As the gradient arrives, when it is there, and when the node has run."""
    kinds: tuple[HookKind, ...] = ("node", "post-accumulate", "tensor")
    heap = done(module(), Y, *(RegisterHook("p", "h", kind) for kind in kinds))
    expected = (("h", "tensor"), ("h", "post-accumulate"), ("h", "node"))

    assert fired(heap, Backward("y")) == expected


def test_hooks_of_a_computed_tensor() -> None:
    """They are its node's, and fire before those behind it."""
    heap = done(module(), Y, RegisterHook("y", "one"), RegisterHook("y", "two"))
    heap = done(heap, RegisterHook("y", "ran", "node"), RegisterHook("p", "leaf"))

    assert fired(heap, Backward("y")) == (
        ("one", "tensor"),
        ("two", "tensor"),
        ("ran", "node"),
        ("leaf", "tensor"),
    )


def test_a_hook_of_a_node_goes_with_it() -> None:
    """Without a graph that holds the node, the hook is gone at once."""
    heap = done(module(), RegisterHook("p", "h", "node"), Y)

    assert fired(heap, Backward("y")) == ()


def test_a_hook_on_what_is_stale() -> None:
    """A view without a node is refused after the dict was made, and is refused on."""
    heap = done(module(), NO_GRAD_VIEW, Write("v"))
    outcome = refused(heap, RegisterHook("v", "h"))
    then = done(outcome.heap, RegisterHook("v", "g"))

    assert outcome.rule == "view/no-grad"
    assert [one.entries for one in then.hooks if one is not None] == [("g",)]
    assert refused(then, Product("v", "p", "y")).rule == "view/no-grad"


def test_a_first_hook_on_a_stale_view() -> None:
    """The dict that is being registered is gone by then."""
    heap = done(module(), View("p", "v"), Write("p"))

    assert isinstance(step(heap, RegisterHook("v", "h"), spec(NEW)), Undefined)


def test_post_accumulate_hooks() -> None:
    """For leaves alone, a view that has no node among them unless it is stale."""
    hook = RegisterHook("v", "h", "post-accumulate")
    heap = done(module(), NO_GRAD_VIEW)

    assert at(done(heap, hook), "v") == at(heap, "v")
    assert refused(done(heap, Write("v")), hook).rule == "view/no-grad"
    assert refused(done(module(), View("p", "v")), hook).rule == "hook/not-a-leaf"


@pytest.mark.parametrize("kind", ["tensor", "post-accumulate", "node"])
def test_hooks_need_a_gradient(kind: HookKind) -> None:
    """A tensor outside any graph takes no hook and retains nothing."""
    rule = "edge/no-grad" if kind == "node" else "hook/no-grad"

    assert refused(module(), RegisterHook("t", "h", kind)).rule == rule
    assert refused(module(), RetainGrad("t")).rule == "retain-grad/no-grad"


def test_the_edge_of_a_torn_wrapper() -> None:
    """It is read off a view, which a wrapper without its class refuses."""
    heap = done(module("TwoTensor"), TakeWeakref("_WeakTensorRef", "p", "r"))
    heap = refused(heap, SwapTensors("p", "t")).heap

    assert refused(heap, RegisterHook("p", "h", "node")).rule == "dispatch/no-handler"


def test_a_hook_fires_once_for_all_that_comes() -> None:
    """A leaf waits for both of its gradients, and is told their sum."""
    hooks = RegisterHook("p", "after", "post-accumulate"), RegisterHook("p", "before")
    heap = done(module(), Y, Forward("square", "p", "z"), *hooks)
    heap = done(heap, Product("y", "z", "x"))

    assert fired(heap, Backward("x")) == (
        ("before", "tensor"),
        ("after", "post-accumulate"),
    )


@pytest.mark.parametrize("leaf", ["p", "m.weight"])
def test_the_newest_node_runs_first(leaf: str) -> None:
    """But a leaf at once, before an older node that is ready too."""
    old, new = Forward("scale", "p", "y"), Forward("scale", "m.weight", "z")
    hooks = [RegisterHook("y", "old"), RegisterHook("z", "new")]
    heap = done(module(), old, new, *hooks, RegisterHook(leaf, "leaf"))
    heap = done(heap, Product("y", "z", "x"))
    expected = ["new", "old", "leaf"] if leaf == "p" else ["new", "leaf", "old"]

    assert [label for label, _ in fired(heap, Backward("x"))] == expected


# -- Gradients that are kept -----------------------------------------------------------


@pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])
def test_retained_gradients_add_up(cls: str) -> None:
    """The first one is kept as it is, the sum goes into a new tensor."""
    heap = done(module(cls), View("p", "v"), RetainGrad("v"), RetainGrad("v"))
    once = done(heap, Backward("v"))
    twice = done(once, Backward("v"))
    inner = ".a" if cls == "TwoTensor" else ""

    assert values(once, f"v.grad{inner}") == (1, 1)
    assert values(twice, f"v.grad{inner}") == (2, 2)
    assert at(once, "v.grad") != at(twice, "v.grad")


def test_a_leaf_retains_nothing() -> None:
    """It gets its gradient anyway, and no weak pointer to it is kept."""
    heap = done(module(), RetainGrad("p"), Y)

    assert all(one.retains is None for one in heap.nodes)
    assert not heap.meta_of(at(heap, "p")).retains_grad


def test_what_is_stale_retains_nothing() -> None:
    """A view of a view under `no_grad` has a node, which is refused once stale."""
    heap = done(module(), NO_GRAD_VIEW, View("v", "w"), Write("v"))

    assert refused(heap, RetainGrad("w")).rule == "view/of-no-grad"


def test_a_dead_tensor_retains_nothing() -> None:
    """Its node knows it by a weak pointer, and lives on without."""
    heap = done(module(), Y, RetainGrad("y"), Forward("scale", "y", "z"), Drop("y"))
    living = [one for one in heap.nodes if one is not None]

    assert [one.retains for one in living] == [None] * 3
    assert values(done(heap, Backward("z")), "p.grad") == (1, 1)


def test_a_kept_gradient_over_nothing() -> None:
    """The sum reads it."""
    heap = done(module("TwoTensor"), RequiresGrad("t"), View("t", "v"), RetainGrad("v"))
    heap = done(heap, Backward("v"), SetData("v.grad", "p"))

    assert isinstance(step(heap, Backward("v"), spec(NEW)), Undefined)
