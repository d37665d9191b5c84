"""Outcomes: four ways in which an action ends."""

from typing import Any, get_args

import attrs
import pytest

from swapmodel.outcomes import Done, Outcome, OutOfScope, Refusal, Refused, Undefined
from swapmodel.state.events import Fired
from tests.heaps import module

HEAP, EVENTS = module(), (Fired("h", "tensor"),)


def test_a_refusal_carries_the_heap_it_stopped_in() -> None:
    """Whatever torch raised, the heap that it left is part of the outcome."""
    with_heap = [
        kind for kind in get_args(Outcome) if "heap" in attrs.fields_dict(kind)
    ]

    assert with_heap == [Done, Refused, Undefined]


def test_the_rule_is_the_innermost() -> None:
    """A refusal is known by the rule that refused first, not by what wraps it."""
    outer = Refusal("convert/could-not-swap", "weight")
    refused = Refused(HEAP, Refusal("swap/no-weakrefs", "t1", (), (outer,)), EVENTS)

    assert refused.rule == "swap/no-weakrefs"


@pytest.mark.parametrize(
    "outcome",
    [
        Done(HEAP, EVENTS),
        Refused(HEAP, Refusal("swap/few-owners", "t1", (("count", 3),)), EVENTS),
        Undefined(HEAP, "a null storage is read", EVENTS),
        OutOfScope("no swap"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_outcomes_are_values(outcome: Any) -> None:
    """An outcome is compared, hashed and matched by position."""
    fields = [getattr(outcome, one.name) for one in attrs.fields(type(outcome))]

    assert outcome == type(outcome)(*fields)
    assert hash(outcome) == hash(type(outcome)(*fields))
    assert outcome != OutOfScope("another")


def test_nothing_happened_by_default() -> None:
    """An outcome has no events unless it is told."""
    refusal = Refusal("swap/same-slots")

    assert (Done(HEAP).events, Undefined(HEAP, "x").events) == ((), ())
    assert (refusal.operand, refusal.facts, refusal.within) == ("", (), ())
