"""`swap_tensors`: what each phase refuses and moves, and in what order."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.actions import (
    Action,
    Backward,
    Forward,
    Program,
    RegisterHook,
    SetAttribute,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.outcomes import Done, OutOfScope, Refusal
from swapmodel.semantics.spec import Frame
from swapmodel.semantics.step import step
from swapmodel.semantics.swap import swap_tensors
from swapmodel.state.classes import KNOWN, TensorClass
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from swapmodel.state.record import field_names
from swapmodel.state.tensors import Tensor
from tests.heaps import (
    LATE,
    NEW,
    NO_SWAP,
    at,
    done,
    module,
    programs,
    refused,
    runs,
    spec,
)

SWAP = SwapTensors("p", "t")
LEAVES_CLASS = ("cls", "attributes", "inner", "is_param", "slots")


def moved(before: Heap, then: Heap) -> set[str]:
    """The fields of `p` and `t` that differ after an action."""
    return {
        name
        for place in ("p", "t")
        for name in field_names(Tensor)
        if getattr(before.tensor(at(before, place)), name)
        != getattr(then.tensors[at(before, place)], name)
    }


# -- Checks ----------------------------------------------------------------------------


@pytest.mark.parametrize("under", [LATE, NEW])
@pytest.mark.parametrize(("place", "operand"), [("p", "t1"), ("t", "t2")])
def test_no_weakrefs(place: str, operand: str, under: str) -> None:
    """A tensor with a Python weakref is refused before anything moves."""
    heap = done(module(), TakeWeakref("ReferenceType", place, "r"))
    outcome = refused(heap, SWAP, under)

    assert outcome.refusal == Refusal("swap/no-weakrefs", operand)
    assert outcome.heap == heap


def test_weakrefs_of_others() -> None:
    """A weakref of neither operand forbids nothing."""
    heap = done(module(), TakeWeakref("ReferenceType", "m.weight", "r"))

    assert isinstance(step(heap, SWAP, spec(NEW)), Done)


@pytest.mark.parametrize("under", [LATE, NEW])
@pytest.mark.parametrize(
    ("slots", "others", "taken"),
    [((), (), True), (("a",), (), False), ((), ("a",), False), (("a",), ("b",), False)],
)
def test_same_slots(
    monkeypatch: pytest.MonkeyPatch,
    slots: tuple[str, ...],
    others: tuple[str, ...],
    taken: bool,
    under: str,
) -> None:
    """Classes whose slots differ are refused before anything moves."""
    monkeypatch.setitem(KNOWN, "Tensor", TensorClass(name="Tensor", slots=others))
    parameter = TensorClass(name="Parameter", parameter=True, slots=slots)
    monkeypatch.setitem(KNOWN, "Parameter", parameter)
    heap = module()

    if taken:
        assert isinstance(step(heap, SWAP, spec(under)), Done)
    else:
        outcome = refused(heap, SWAP, under)
        assert outcome.refusal == Refusal("swap/same-slots")
        assert outcome.heap == heap


FEW_OWNERS: list[tuple[tuple[Action, ...], Action, Refusal | None]] = [
    ((), SWAP, None),
    ((Forward("scale", "p", "y"),), SWAP, None),
    (
        (Forward("square", "p", "y"),),
        SWAP,
        Refusal("swap/few-owners", "t1", (("count", 3),)),
    ),
    (
        (Forward("square", "p", "y"),),
        SwapTensors("t", "p"),
        Refusal("swap/few-owners", "t2", (("count", 3),)),
    ),
    ((View("p", "v"),), SWAP, Refusal("swap/few-owners", "t1", (("count", 3),))),
    ((View("t", "v"),), SWAP, Refusal("swap/gradient-edge", "t2")),
    (
        (View("t", "v"), View("t", "w")),
        SWAP,
        Refusal("swap/few-owners", "t2", (("count", 3),)),
    ),
    (
        (Forward("scale", "p", "y"), View("y", "v")),
        SwapTensors("y", "t"),
        Refusal("swap/few-owners", "t1", (("count", 2),)),
    ),
    ((), SwapTensors("m.weight.grad", "t"), Refusal("swap/gradient-edge", "t1")),
]


@pytest.mark.parametrize(("program", "action", "refusal"), FEW_OWNERS)
def test_few_owners(program: Program, action: Action, refusal: Refusal | None) -> None:
    """One owner passes, and an `AccumulateGrad` beside it; all else is refused."""
    heap = done(module(), *program)
    outcome = step(heap, action, spec(NEW))

    if refusal is None:
        assert isinstance(outcome, Done)
    else:
        assert outcome == refused(heap, action)
        assert outcome.refusal == refusal
        assert outcome.heap == heap


def test_an_owner_that_is_no_accumulator() -> None:
    """A leaf whose second owner is a gradient's place is refused with its count."""
    heap = module()
    grad = heap.tensor(at(heap, "m.weight.grad")).impl
    draft = Draft(heap)
    draft.edit_meta(grad).requires_grad = True
    outcome = refused(draft.sealed(), SwapTensors("m.weight.grad", "t"))

    assert outcome.refusal == Refusal("swap/few-owners", "t1", (("count", 2),))


def test_the_poison_comes_first() -> None:
    """The node of `t1` is poisoned before `t2` has been looked at."""
    heap = done(module(), Forward("scale", "p", "y"), View("t", "v"))
    outcome = refused(heap, SWAP)

    assert outcome.refusal == Refusal("swap/gradient-edge", "t2")
    assert moved(heap, outcome.heap) == set()
    assert refused(outcome.heap, Backward("y")).rule == "backward/poisoned"


@pytest.mark.parametrize(
    ("program", "count"),
    [
        ((View("t", "v"),), 2),
        ((Forward("scale", "p", "y"),), 2),
        ((View("p", "v"),), 3),
    ],
)
def test_one_owner(program: Program, count: int) -> None:
    """Release 2.3 refuses every second owner, after class and dict have moved."""
    heap = done(module(), SetAttribute("p", "tag"), *program)
    outcome = refused(heap, SWAP, LATE)

    assert outcome.rule == "swap/one-owner"
    assert outcome.refusal.facts == (("count", count),)
    assert moved(heap, outcome.heap) == {"cls", "attributes"}


@pytest.mark.parametrize("under", [LATE, NEW])
@pytest.mark.parametrize(("place", "operand"), [("p", "t1"), ("t", "t2")])
def test_no_impl_weakrefs(place: str, operand: str, under: str) -> None:
    """A C++ weak pointer is seen only after class and dict have moved."""
    heap = done(
        module("TwoTensor"),
        SetAttribute("p", "tag"),
        TakeWeakref("_WeakTensorRef", place, "r"),
    )
    outcome = refused(heap, SWAP, under)

    assert outcome.refusal == Refusal("swap/no-impl-weakrefs", operand, (("count", 1),))
    assert moved(heap, outcome.heap) == {"cls", "attributes", "inner", "is_param"}


def test_no_swap_at_all() -> None:
    """A release without the function has nothing to say about it."""
    outcome = step(module(), SWAP, spec(NO_SWAP))

    assert outcome == OutOfScope("torch-2.1 has no swap_tensors")


# -- Moves -----------------------------------------------------------------------------

MOVES = {
    "move-class": {"cls"},
    "move-attributes": {"attributes", "inner", "is_param"},
    "move-slots": {"slots"},
    "move-impl": {"impl"},
}


@pytest.mark.parametrize(("phase", "fields"), MOVES.items())
def test_each_move_alone(phase: str, fields: set[str]) -> None:
    """A move exchanges its fields, and leaves everything else alone."""
    heap = done(module("TwoTensor"), SetAttribute("p", "tag"), RegisterHook("p", "h"))
    p, t = at(heap, "p"), at(heap, "t")
    draft = Draft(heap)
    draft.edit_tensor(p).slots = (("slot", 1),)
    before = draft.sealed()
    draft = Draft(before)
    only = attrs.evolve(spec(NEW), operations=(("swap_tensors", (phase,)),))

    assert swap_tensors(draft, Frame(only), p, t) is None
    then = draft.sealed()
    assert moved(before, then) == fields
    for name in fields:
        assert getattr(then.tensor(p), name) == getattr(before.tensor(t), name)
        assert getattr(then.tensor(t), name) == getattr(before.tensor(p), name)
    if phase == "move-impl":
        assert (then.impl_of(p).pyobj, then.impl_of(t).pyobj) == (p, t)
    else:
        assert then.impls == before.impls


def test_the_frame_is_gone() -> None:
    """A swap leaves no local variable behind that would keep a tensor alive."""
    heap = module()
    draft = Draft(heap)
    swap_tensors(draft, Frame(spec(NEW)), at(heap, "p"), at(heap, "t"))

    assert draft.frames == []


@given(
    program=programs(4),
    pair=st.tuples(*[st.sampled_from(("p", "t", "m.weight", "y"))] * 2),
    under=st.sampled_from((LATE, NEW)),
)
def test_swapping_twice_is_nothing(
    program: Program, pair: tuple[Any, Any], under: str
) -> None:
    """Two swaps of one pair leave everything as it was, but for the poison."""
    heap = runs(module(), program, spec(under))[-1]
    swap = SwapTensors(*pair)
    once = step(heap, swap, spec(under))
    if not isinstance(once, Done):
        return
    twice = step(once.heap, swap, spec(under))
    assert isinstance(twice, Done)
    nodes = [one and attrs.evolve(one, poisoned=False) for one in twice.heap.nodes]  # type: ignore[misc]
    was = [one and attrs.evolve(one, poisoned=False) for one in heap.nodes]  # type: ignore[misc]

    assert nodes == was
    assert attrs.evolve(twice.heap, nodes=heap.nodes) == heap


def test_a_tensor_swapped_with_itself() -> None:
    """Nothing changes on the tensor, but its own node is poisoned."""
    heap = done(module(), Forward("scale", "p", "y"))
    then = done(heap, SwapTensors("p", "p"))

    assert then.tensors == heap.tensors
    assert refused(then, Backward("y")).rule == "backward/poisoned"
    assert refused(heap, SwapTensors("p", "p"), LATE).rule == "swap/one-owner"
