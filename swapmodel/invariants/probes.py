"""
What would come of it?  Short programs run on the heaps around a step.

A probe leaves the searched heap alone; its actions become part of a counterexample.
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import frozen

from swapmodel.actions import Action, Backward, Forward, Program
from swapmodel.invariants.violation import REMEMBERED_HEAPS
from swapmodel.outcomes import Done, Outcome, OutOfScope, Refused, Stop, Undefined
from swapmodel.semantics import payloads
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.events import Event
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId

OUTPUT = "probe"
"""The variable that a probe assigns."""


@frozen
class Probed:
    """What a probe came to."""

    outcome: Outcome
    """That of its last action that ran."""

    events: tuple[Event, ...]

    @property
    def heap(self) -> Heap | None:
        """The heap that it left, if it left one."""
        return None if isinstance(self.outcome, OutOfScope) else self.outcome.heap

    @property
    def done(self) -> bool:
        """Whether no action was refused."""
        return isinstance(self.outcome, Done)


def probe(heap: Heap, program: Program, spec: Spec) -> Probed:
    """
    Run a probe up to its first refusal.

    What it came to on one of the last few heaps is remembered: several invariants
    ask alike, and a search asks of a heap whenever it tries an action there.
    """
    asked = _asked_of(heap, spec)
    if program not in asked:
        asked[program] = _probed(heap, program, spec)
    return asked[program]


_Asked: TypeAlias = dict[Program, Probed]
_KEPT: list[tuple[Heap, Spec, _Asked]] = []


def _asked_of(heap: Heap, spec: Spec) -> _Asked:
    for number, (one, under, asked) in enumerate(_KEPT):
        if one is heap and under is spec:
            if number:
                _KEPT.insert(0, _KEPT.pop(number))
            return asked
    _KEPT.insert(0, (heap, spec, {}))
    del _KEPT[REMEMBERED_HEAPS:]
    return _KEPT[0][2]


def _probed(heap: Heap, program: Program, spec: Spec) -> Probed:
    outcome: Outcome = Done(heap)
    events: list[Event] = []
    for action in program:
        outcome = step(heap, action, spec)
        if isinstance(outcome, OutOfScope):
            break
        events.extend(outcome.events)
        heap = outcome.heap
        if isinstance(outcome, Refused | Undefined):
            break
    return Probed(outcome, tuple(events))


def backward_from(place: str) -> tuple[Action, ...]:
    """The probe that sends a gradient to the tensor at a place."""
    return Forward("scale", place, OUTPUT), Backward(OUTPUT)


def gradient(heap: Heap, t: TensorId) -> tuple[payloads.Values, ...] | None:
    """The values of a tensor's gradient, or `None` without one."""
    grad = heap.grad_of(t)
    if grad is None:
        return None
    payload = payloads.read(heap, grad)
    return payloads.leaves(payload) if not isinstance(payload, Stop) else ()
