"""
What does a whole program come to?
"""

from __future__ import annotations

from attrs import frozen

from swapmodel.actions import Program
from swapmodel.outcomes import Outcome, OutOfScope, Undefined
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.heap import Heap


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
