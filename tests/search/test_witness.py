"""A witness is the shortest program, and none is found that is not there."""

from swapmodel.actions import ClearGrad, Drop, SwapTensors, TakeWeakref, View
from swapmodel.invariants.violation import Step
from swapmodel.outcomes import Refused, Undefined
from swapmodel.run import run
from swapmodel.search.scope import Scope
from swapmodel.search.witness import witness
from swapmodel.state.heap import Heap
from tests.search.starts import SMALL, spec

ACTIONS = (
    ClearGrad("m.weight"),
    SwapTensors("m.weight", "t"),
    TakeWeakref("ReferenceType", "t", "r"),
    View("t", "u"),
    Drop("u"),
)


def scope(name: str, depth: int) -> Scope:
    """The first small heap and a few actions."""
    return Scope(id=name, starts=SMALL[:1], actions=ACTIONS, depth=depth)


def refused(one: Step) -> bool:
    """Whether a swap met a weak reference."""
    outcome = one.outcome
    return isinstance(outcome, Refused) and outcome.rule == "swap/no-weakrefs"


def test_the_shortest_program() -> None:
    """It ends in what is asked for, and its first steps do not show it."""
    found = witness([scope("s", 3)], spec("torch-2.13"), refused)

    assert found is not None
    assert (found.scope, found.start, found.heap) == ("s", *SMALL[0])
    assert found.program == (ACTIONS[2], ACTIONS[1])
    last = run(found.heap, found.program, spec("torch-2.13")).outcomes[-1]
    assert isinstance(last, Refused)


def test_nothing_within_the_bound() -> None:
    """A program that is too long for the scope is none of it."""
    assert witness([scope("s", 1)], spec("torch-2.13"), refused) is None


def test_a_later_scope_has_to_be_shorter() -> None:
    """Of equally short programs the one of the first scope is kept."""
    both = [scope("first", 3), scope("second", 3)]
    shorter = Scope(
        id="third",
        starts=(("referred", _referred()),),
        actions=ACTIONS,
        depth=3,
    )

    found = witness(both, spec("torch-2.13"), refused)
    better = witness([*both, shorter], spec("torch-2.13"), refused)

    assert found is not None
    assert better is not None
    assert found.scope == "first"
    assert (better.scope, len(better.program)) == ("third", 1)


def _referred() -> Heap:
    """The small heap once `t` has a weak reference."""
    return run(SMALL[0][1], ACTIONS[2:3], spec("torch-2.13")).heaps[-1]


def test_an_undefined_end_can_be_asked_for_and_is_not_gone_on_from() -> None:
    """What torch would crash on is a last action."""
    assert witness([scope("s", 2)], spec("torch-2.13"), _undefined) is None


def _undefined(one: Step) -> bool:
    return isinstance(one.outcome, Undefined)
