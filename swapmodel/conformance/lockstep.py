"""
Does real torch do what the model says, after every action of a program?
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from swapmodel.actions import Program
from swapmodel.conformance.abilities import unseen
from swapmodel.conformance.differences import differences, hide
from swapmodel.conformance.observation import Result
from swapmodel.conformance.predicted import looked
from swapmodel.conformance.world import World
from swapmodel.outcomes import Done, Outcome, Refused
from swapmodel.run import run
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.heap import Heap


@frozen
class Divergence:
    """A program after one of whose actions torch and the model differ."""

    start: Heap
    program: Program
    """Up to the action that shows it."""

    differing: dict[str, tuple[Any, Any]]
    """What differs, with the model's and with torch's value."""


@frozen
class Compared:
    """A program that ran in both worlds."""

    divergence: Divergence | None
    last: Outcome
    """What the model says that the last action came to."""


def compare(
    start: Heap, program: Program, spec: Spec, *, every: bool = True
) -> Compared:
    """
    Run a program in both worlds and look after every action, until they differ.

    Without *every*, look after the last action that the model answers for.
    """
    world = World(start)
    outcomes = () if every else run(start, program, spec).outcomes
    answered = sum(isinstance(one, Done | Refused) for one in outcomes)
    heap: Heap = start
    outcome: Outcome = Done(start)
    for count, action in enumerate(program, 1):
        outcome = step(heap, action, spec)
        if not isinstance(outcome, Done | Refused):
            break
        heap = outcome.heap
        errors = world.run(action)
        if not every and count < answered:
            continue
        promised, heap = looked(outcome, spec)
        different = differences(hide(promised, unseen()), world.look(errors))
        if different:
            found = Divergence(start, program[:count], different)
            return Compared(found, outcome)
    return Compared(None, outcome)


def compare_last(start: Heap, program: Program, promised: Result) -> Divergence | None:
    """
    Run a program in torch and look after its last action alone.

    Enough when every prefix is looked at as a program of its own.
    """
    world = World(start)
    for action in program[:-1]:
        world.run(action)
    different = differences(
        hide(promised, unseen()), world.look(world.run(program[-1]))
    )
    return Divergence(start, program, different) if different else None


def shrink(found: Divergence, spec: Spec) -> Divergence:
    """Leave out actions, as long as torch and the model still differ."""
    best = found
    position = 0
    while position < len(best.program):
        shorter = best.program[:position] + best.program[position + 1 :]
        if not shorter:
            break
        again = compare(best.start, shorter, spec).divergence
        if again is None:
            position += 1
        else:
            best = again
    return best
