"""
What does a whole program come to, and what does it show?
"""

from __future__ import annotations

from operator import is_not
from typing import TypeAlias

from attrs import evolve, field, frozen

from swapmodel.actions import Action, Program
from swapmodel.invariants.violation import Cause, Invariant, Step, Violation
from swapmodel.outcomes import Outcome, OutOfScope, Undefined
from swapmodel.semantics import places
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.events import Path
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId


@frozen
class Trace:
    """A program that was run, with what each action came to."""

    start: Heap
    program: Program
    outcomes: tuple[Outcome, ...]
    """One per action that ran; an `Undefined` or `OutOfScope` is the last."""

    @property
    def heaps(self) -> tuple[Heap, ...]:
        """The start heap and the heap after each action that left one."""
        after = [one.heap for one in self.outcomes if not isinstance(one, OutOfScope)]
        return (self.start, *after)


def run(start: Heap, program: Program, spec: Spec) -> Trace:
    """
    Run a program from a heap.

    It goes on after a refusal, as Python does after `except`; only an undefined
    action, or one out of scope, ends it.
    """
    heap, outcomes = start, list[Outcome]()
    for action in program:
        outcome = step(heap, action, spec)
        outcomes.append(outcome)
        if isinstance(outcome, Undefined | OutOfScope):
            break
        heap = outcome.heap
    return Trace(start, program, tuple(outcomes))


@frozen
class Counterexample:
    """The shortest program of a scope that shows one cause."""

    spec: str
    """The id of the spec that it was run under."""

    scope: str
    start: str
    """The id of the start heap in the scope."""

    heap: Heap
    """That start heap."""

    program: Program
    """Its last action is the one that breaks the invariant."""

    violation: Violation
    cause: Cause


Phases: TypeAlias = tuple[tuple[str, Heap], ...]

CALLED = "call_fn/call"
"""The phase that calls the function of a conversion, once for each tensor."""


def phases(before: Heap, action: Action, spec: Spec) -> Phases:
    """The phases that an action runs through, each with the heap after it."""
    seen: list[tuple[str, Heap]] = []
    step(before, action, spec, lambda phase, heap: seen.append((phase, heap)))
    return tuple(seen)


def find_cause(one: Step, violation: Violation, invariant: Invariant) -> Cause:
    """
    Name the phase after which a violation first shows and never goes away again.

    Where a promise is unfulfilled from the first phase to the last, the last one that
    wrote the tensor answers for it.  An action without phases counts as itself.
    """
    half_way = _half_way(one)
    seen, number = half_way.seen, len(half_way.seen)
    while number and half_way.shown(number - 1, violation, invariant) is not None:
        number -= 1
    if number == len(seen):
        name = type(one.action).__name__
        return Cause(violation.invariant, violation.path, name, violation.kind)
    if not number and half_way.shown(-1, violation, invariant) is not None:
        number = _last_written(one.before, seen, violation.place)
    other = half_way.shown(number, violation, invariant)
    assert other is not None, "it shows after each phase from this one on"
    return Cause(violation.invariant, other.path, seen[number][0], violation.kind)


@frozen(eq=False)
class HalfWay:
    """A step cut short after each of its phases, as invariants see it."""

    step: Step
    seen: Phases
    ways: tuple[Path | None, ...]
    """The path of the tensor that was being converted, phase by phase."""

    _asked: dict[tuple[str, int, Path | None], dict[tuple[str, str], Violation]] = (
        field(factory=dict, init=False)
    )

    def shown(
        self, number: int, violation: Violation, invariant: Invariant
    ) -> Violation | None:
        """The same violation, if it shows after a phase; -1 is before the first."""
        heap, way = self.step.before, None
        if number >= 0:
            heap, way = self.seen[number][1], self.ways[number]
        key = invariant.id, id(heap), way
        if key not in self._asked:
            outcome = evolve(self.step.outcome, heap=heap)
            partial = evolve(self.step, outcome=outcome, under_way=way)
            self._asked[key] = {
                (other.place, other.was): other for other in invariant.check(partial)
            }
        return self._asked[key].get((violation.place, violation.was))


_LAST: list[HalfWay] = []


def _half_way(one: Step) -> HalfWay:
    """A step in its phases, which are run once for all that it breaks."""
    if not (_LAST and _LAST[0].step is one):
        seen = phases(one.before, one.action, one.spec)
        _LAST[:] = [HalfWay(one, seen, _under_way(one, seen))]
    return _LAST[0]


def _under_way(one: Step, seen: Phases) -> tuple[Path | None, ...]:
    """Each conversion begins with a call of the function, and takes one path."""
    paths: list[Path | None] = []
    count = 0
    for phase, _ in seen:
        count += phase == CALLED
        reached = one.converted[:count] if count else ()
        paths.append(reached[-1].path if reached else None)
    return tuple(paths)


def _last_written(before: Heap, seen: Phases, place: str) -> int:
    """The last phase that wrote the tensor at a place, or what it belongs to."""
    heaps = (before, *(heap for _, heap in seen))
    while place:
        standing = [_standing(heap, place) for heap in heaps]
        for number in reversed(range(len(seen))):
            was, now = standing[number : number + 2]
            if len(was) != len(now) or any(map(is_not, was, now)):
                return number
        place = place.rpartition(".")[0]
    return len(seen) - 1


def _standing(heap: Heap, place: str) -> tuple[object, ...]:
    """Everything of what is at a place that a write can change."""
    found = places.resolve(heap, place)
    if found is None:
        return ()
    if found[0] != "tensor":
        return (getattr(heap, f"{found[0]}s")[found[1]],)
    t = TensorId(found[1])
    impl = heap.impl_of(t)
    storage = None if impl.storage is None else heap.storage(impl.storage)
    return heap.tensor(t), impl, heap.meta_of(t), storage
