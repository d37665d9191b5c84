"""
What does a whole program come to, and what does it show?
"""

from __future__ import annotations

from attrs import evolve, frozen

from swapmodel.actions import Action, Program
from swapmodel.invariants.violation import Cause, Invariant, Step, Violation
from swapmodel.outcomes import Outcome, OutOfScope, Undefined
from swapmodel.semantics import places
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
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


def phases(before: Heap, action: Action, spec: Spec) -> tuple[tuple[str, Heap], ...]:
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
    name = type(one.action).__name__
    seen = phases(one.before, one.action, one.spec)
    wrote = ""
    heaps = (one.before, *(heap for _, heap in seen))
    for number, (phase, heap) in reversed(tuple(enumerate(seen))):
        partial = evolve(one, outcome=evolve(one.outcome, heap=heap))
        if not any(_same(violation, other) for other in invariant.check(partial)):
            break
        name = phase
        standing = [_standing(around, violation.place) for around in heaps[number:][:2]]
        if not wrote and standing[0] != standing[1]:
            wrote = phase
    else:
        name = wrote or (seen[-1][0] if seen else name)
    return Cause(violation.invariant, violation.path, name, violation.kind)


def _standing(heap: Heap, place: str) -> object:
    """Everything of the tensor at a place that a write can change."""
    found = places.resolve(heap, place)
    if found is None or found[0] != "tensor":
        return None
    t = TensorId(found[1])
    impl = heap.impl_of(t)
    storage = None if impl.storage is None else heap.storage(impl.storage)
    return heap.tensor(t), impl, heap.meta_of(t), storage


def _same(one: Violation, other: Violation) -> bool:
    return (one.place, one.was) == (other.place, other.was)
