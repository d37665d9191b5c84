"""Autograd by hand: `requires_grad_`, `.grad =` and `register_hook`."""

from typing import Any

import pytest

from swapmodel.actions import (
    Action,
    Backward,
    CastData,
    ClearGrad,
    FillGrad,
    Forward,
    RegisterHook,
    SwapTensors,
    View,
)
from swapmodel.outcomes import Done, Refusal
from swapmodel.semantics.autograd_meta import set_grad, set_requires_grad
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.events import Fired
from swapmodel.state.heap import Heap
from tests.heaps import NEW, at, done, module, refused, spec, values

Y = Forward("scale", "p", "y")


def fired(heap: Heap, action: Action) -> list[str]:
    """The labels of the hooks that an action fires."""
    events = step(heap, action, spec(NEW)).events
    return [one.hook for one in events if isinstance(one, Fired)]


# -- requires_grad_ --------------------------------------------------------------------


@pytest.mark.parametrize("value", [False, True])
@pytest.mark.parametrize("place", ["p", "t"])
def test_a_leaf_can_be_told(place: str, value: bool) -> None:
    """A leaf requires a gradient exactly when it is told to."""
    heap = module()
    draft = Draft(heap)

    assert set_requires_grad(draft, at(heap, place), value) is None
    assert draft.meta_of(at(heap, place)).requires_grad == value


def test_a_computed_tensor_cannot_leave_its_graph() -> None:
    """What was computed requires a gradient for good."""
    heap = done(module(), Y)
    draft = Draft(heap)

    assert set_requires_grad(draft, at(heap, "y"), True) is None
    assert set_requires_grad(draft, at(heap, "y"), False) == Refusal(
        "requires-grad/non-leaf"
    )
    assert draft.sealed() == heap


# -- .grad = ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({}, None),
        (
            {"dtype": "float64"},
            Refusal("grad/dtype", "", (("dtype", "float64"), ("expected", "float32"))),
        ),
        (
            {"device": "meta"},
            Refusal("grad/device", "", (("device", "meta"), ("expected", "cpu"))),
        ),
        ({"values": (5,)}, Refusal("grad/size", "", (("size", 1), ("expected", 2)))),
        (
            {"dtype": "float64", "device": "meta", "values": (5,)},
            Refusal("grad/dtype", "", (("dtype", "float64"), ("expected", "float32"))),
        ),
    ],
    ids=["fits", "dtype", "device", "size", "all"],
)
def test_a_gradient_has_to_fit(fields: dict[str, Any], refusal: Refusal | None) -> None:
    """A gradient of another dtype, device or size is refused, in this order."""
    build = Builder()
    p, g = build.parameter(), build.tensor(**fields)
    draft = Draft(build.heap())

    assert set_grad(draft, p, g) == refusal
    assert draft.grad_of(p) == (g if refusal is None else None)


def test_a_tensor_is_not_its_own_gradient() -> None:
    """A tensor cannot be its own gradient."""
    heap = module()

    assert set_grad(Draft(heap), at(heap, "p"), at(heap, "p")) == Refusal("grad/own")


def test_filling_and_clearing() -> None:
    """A gradient of ones is fresh each time; clearing leaves none."""
    once = done(module(), FillGrad("p"))
    twice = done(once, FillGrad("p"))

    assert values(once, "p.grad") == (1, 1)
    assert at(once, "p.grad") != at(twice, "p.grad")
    assert done(twice, ClearGrad("p")).grad_of(at(once, "p")) is None


def test_a_filled_gradient_has_to_fit() -> None:
    """`ones_like` of an incoherent wrapper does not fit the wrapper."""
    heap = done(module("TwoTensor"), CastData("p", "float64"))

    assert refused(heap, FillGrad("p")).rule == "grad/dtype"


# -- Hooks -----------------------------------------------------------------------------


def test_hooks_fire_in_order() -> None:
    """Hooks of a leaf fire in the order in which they were registered."""
    heap = done(module(), RegisterHook("p", "b"), RegisterHook("p", "a"), Y)

    assert fired(heap, Backward("y")) == ["b", "a"]
    assert [one.entries for one in heap.hooks] == [("b", "a")]


def test_hooks_of_a_computed_tensor() -> None:
    """Hooks of a computed tensor fire when its gradient arrives, before the leaf's."""
    heap = done(
        module(),
        RegisterHook("p", "leaf"),
        Y,
        RegisterHook("y", "inner"),
        View("y", "z"),
    )

    assert fired(heap, Backward("z")) == ["inner", "leaf"]


def test_hooks_fire_before_the_poison() -> None:
    """A poisoned leaf has fired its hooks by the time that it refuses."""
    heap = done(module(), RegisterHook("p", "h"), Y, SwapTensors("p", "t"))
    outcome = refused(heap, Backward("y"))

    assert outcome.rule == "backward/poisoned"
    assert outcome.events == (Fired("h", "tensor"),)


def test_a_hook_after_a_swap_fires_for_the_other() -> None:
    """A hook is added to the listed dict, which fires for the impl that left."""
    heap = done(
        module(),
        RegisterHook("p", "old"),
        SwapTensors("p", "m.weight"),
        RegisterHook("p", "new"),
        Y,
        Forward("scale", "m.weight", "z"),
    )

    assert fired(heap, Backward("y")) == []
    assert fired(heap, Backward("z")) == ["old", "new"]


def test_no_hook_without_a_gradient() -> None:
    """A tensor that requires no gradient takes no hook."""
    heap = module()
    outcome = refused(heap, RegisterHook("t", "h"))

    assert outcome.rule == "hook/no-grad"
    assert outcome.heap == heap


def test_a_computed_tensor_with_two_dicts() -> None:
    """A node fires the dicts of every object that registered with it."""
    heap = done(module(), Y, RegisterHook("y", "a"))
    draft = Draft(heap)
    draft.edit_tensor(at(heap, "y")).backward_hooks = None
    heap = done(draft.sealed(), RegisterHook("y", "b"))

    assert isinstance(step(heap, Backward("y"), spec(NEW)), Done)
    assert fired(heap, Backward("y")) == ["a", "b"]
