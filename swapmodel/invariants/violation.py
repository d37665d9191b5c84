"""
What does an invariant say when it does not hold?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from attrs import frozen

from swapmodel.actions import Action, Program
from swapmodel.outcomes import Done, Refused, Undefined
from swapmodel.semantics.spec import Spec
from swapmodel.state.events import Path
from swapmodel.state.heap import Heap

PlaceKind: TypeAlias = Literal["parameter", "gradient", "buffer", "inner", "variable"]
"""What a place is to its module."""


@frozen
class Step:
    """One action with the heaps around it, as invariants see it."""

    before: Heap
    action: Action
    outcome: Done | Refused | Undefined
    spec: Spec

    @property
    def then(self) -> Heap:
        """The heap after the action."""
        return self.outcome.heap


@frozen
class Violation:
    """One witness that an invariant does not hold."""

    invariant: str
    place: str
    """Where it shows, such as `m.weight.a`."""

    kind: PlaceKind
    path: Path
    """The path of the tensor that it names."""

    was: str
    """What the claim promises, in words and values."""

    now: str
    """What is there instead."""

    probe: Program = ()
    """The actions that show it, when the heap alone does not."""


Check: TypeAlias = Callable[[Step], Iterator[Violation]]


@frozen
class Invariant:
    """A claim that yields its witnesses; silence means that it holds."""

    id: str
    scope: Literal["heap", "step", "run"]
    check: Check


@frozen
class Cause:
    """Two violations with one cause are one counterexample."""

    invariant: str
    path: Path
    phase: str
    """The phase after which it first fails and never holds again in the action."""

    kind: PlaceKind
