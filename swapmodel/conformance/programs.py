"""
Which programs run in lockstep: all of them up to a length, or some at random?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import TypeAlias

from attrs import Factory, define

from swapmodel.actions import Action, Program
from swapmodel.conformance.drawing import next_action
from swapmodel.conformance.lockstep import (
    Divergence,
    compare,
    compare_last,
    shrink,
)
from swapmodel.conformance.predicted import MISBEHAVED, predicted
from swapmodel.conformance.starts_at_random import Starts
from swapmodel.conformance.undefined import end_of
from swapmodel.outcomes import OutOfScope, Undefined
from swapmodel.search.enabled import enabled
from swapmodel.search.scope import Scope
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.heap import Heap

KEPT = 5
"""How many divergences of one job are kept in full."""


@define
class Tally:
    """What came of many programs."""

    programs: int = 0
    actions: int = 0
    """Actions that real torch ran."""

    diverging: int = 0
    undefined: int = 0
    unmodelled: Counter[str] = Factory(Counter)
    """Why the model declined to say what a program's last action comes to."""

    kept: list[tuple[str, Divergence]] = Factory(list)
    """The first divergences, each with the id of its start heap."""

    def add(self, other: Tally) -> None:
        """Add what came of more programs."""
        self.programs += other.programs
        self.actions += other.actions
        self.diverging += other.diverging
        self.undefined += other.undefined
        self.unmodelled.update(other.unmodelled)
        self.kept.extend(other.kept)

    def diverges(self, start_id: str, found: Divergence, spec: Spec) -> None:
        """Count a divergence and, if it is among the first, shrink and keep it."""
        self.diverging += 1
        if len(self.kept) < KEPT:
            self.kept.append((start_id, shrink(found, spec)))


# -- All programs --------------------------------------------------------------------


def first_actions(scope: Scope, start: int) -> list[Action]:
    """The actions with which a program can begin: each of them is one job."""
    return list(enabled(scope.starts[start][1], scope.actions))


def walk(scope: Scope, start: int, first: Action, spec: Spec) -> Tally:
    """
    Run every program that begins with *first*, in torch only to look at its end.

    What comes before its last action is looked at as a program of its own; behind a
    divergence nothing is looked at.
    """
    start_id, heap = scope.starts[start]
    walker = _Walker(scope, start_id, heap, spec)
    walker.go(heap, (first,))
    return walker.tally


@define
class _Walker:
    scope: Scope
    start_id: str
    start: Heap
    spec: Spec
    tally: Tally = Factory(Tally)

    def go(self, before: Heap, program: Program) -> None:
        """Run a program whose last action starts at *before*, and longer ones."""
        tally = self.tally
        tally.programs += 1
        outcome = step(before, program[-1], self.spec)
        if isinstance(outcome, OutOfScope):
            tally.unmodelled[outcome.why] += 1
            return
        tally.actions += len(program)
        if isinstance(outcome, Undefined):
            _misbehaves(tally, self.start_id, self.start, program, outcome)
            return
        promised = predicted(outcome, self.spec)
        found = compare_last(self.start, program, promised)
        if found is not None:
            tally.diverges(self.start_id, found, self.spec)
        elif len(program) < self.scope.depth:
            for action in enabled(outcome.heap, self.scope.actions):
                self.go(outcome.heap, (*program, action))


def _misbehaves(
    tally: Tally, start_id: str, start: Heap, program: Program, outcome: Undefined
) -> None:
    tally.undefined += 1
    end = end_of(start, program)
    if end not in MISBEHAVED:
        tally.diverging += 1
        differing = {"undefined": (outcome.why, end)}
        tally.kept.append((start_id, Divergence(start, program, differing)))


# -- Programs at random --------------------------------------------------------------


Change: TypeAlias = Callable[[Action, Random], Action]
"""What makes another action of one that was drawn."""


def draw(
    starts: Starts, depth: int, seed: int, spec: Spec, change: Change | None = None
) -> tuple[int, Program]:
    """
    Draw a start heap and a program; the model says what is there after each action.

    It ends with what the model declines or torch leaves undefined.
    """
    random = Random(seed)
    start = random.randrange(len(starts))
    heap = starts[start][1]
    program: Program = ()
    length = random.randint(2, depth)
    while len(program) < length:
        action = next_action(heap, random)
        if change is not None:
            action = change(action, random)
        outcome = step(heap, action, spec)
        program = (*program, action)
        if isinstance(outcome, OutOfScope | Undefined):
            break
        heap = outcome.heap
    return start, program


def run_drawn(starts: Starts, depth: int, seeds: range, spec: Spec) -> Tally:
    """
    Run one program per seed in both worlds.

    Every other one is looked at after its last action alone, because looking might
    change something.
    """
    tally = Tally()
    for seed in seeds:
        start, program = draw(starts, depth, seed, spec)
        start_id, heap = starts[start]
        tally.programs += 1
        tally.actions += len(program)
        found = compare(heap, program, spec, every=seed % 2 == 0)
        if found.divergence is not None:
            tally.diverges(start_id, found.divergence, spec)
        elif isinstance(found.last, OutOfScope):
            tally.unmodelled[found.last.why] += 1
        elif isinstance(found.last, Undefined):
            _misbehaves(tally, start_id, heap, program, found.last)
    return tally
