"""
What does an invariant look at, and what does it say when it does not hold?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Literal, TypeAlias, TypeVar

from attrs import frozen

from swapmodel.actions import Action, Program, operands
from swapmodel.outcomes import Done, Refused, Undefined
from swapmodel.semantics.places import PlaceKind, Placement, placements, resolve
from swapmodel.semantics.spec import Spec
from swapmodel.state.events import Converted, Path
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId

T = TypeVar("T")

REMEMBERED_HEAPS = 4


def remembered(function: Callable[[Heap], T]) -> Callable[[Heap], T]:
    """
    Keep what *function* said of the last few heaps.

    Every invariant asks about the same two, and a search about one heap many times.
    """
    kept: list[tuple[Heap, T]] = []

    @wraps(function)
    def remember(heap: Heap) -> T:
        for number, (one, value) in enumerate(kept):
            if one is heap:
                kept.insert(0, kept.pop(number))
                return value
        value = function(heap)
        kept.insert(0, (heap, value))
        del kept[REMEMBERED_HEAPS:]
        return value

    return remember


@remembered
def placed(heap: Heap) -> tuple[Placement, ...]:
    """Every place of a heap at which a tensor stands."""
    return tuple(placements(heap))


@remembered
def _by_place(heap: Heap) -> dict[str, TensorId]:
    return {place: t for place, _, t in placed(heap)}


@frozen
class Step:
    """One action with the heaps around it, as invariants see it."""

    before: Heap
    action: Action
    outcome: Done | Refused | Undefined
    spec: Spec

    under_way: Path | None = None
    """The path of the tensor that is being converted, if the step ends half-way."""

    @property
    def then(self) -> Heap:
        """The heap after the action."""
        return self.outcome.heap

    @property
    def placed_before(self) -> tuple[Placement, ...]:
        """Every place before the action at which a tensor stood."""
        return placed(self.before)

    @property
    def placed_then(self) -> dict[str, TensorId]:
        """What stands at each place after the action."""
        return _by_place(self.then)

    def operand(self, place: str) -> Placement | None:
        """The tensor at a place of the action; behind a tie, where it is listed."""
        for one in self.placed_before:
            if one[0] == place:
                return one
        found = resolve(self.before, place)
        if found is None or found[0] != "tensor":
            return None
        return next(one for one in self.placed_before if one[2] == found[1])

    def operands(self) -> Iterator[Placement]:
        """The tensors that the action is about, in the order of its fields."""
        for name, _ in operands(type(self.action)):
            found = self.operand(getattr(self.action, name))
            if found is not None:
                yield found

    @property
    def converted(self) -> tuple[Converted, ...]:
        """The module's tensors that reached the choice of their path, in order."""
        events = self.outcome.events
        return tuple(one for one in events if isinstance(one, Converted))

    def path(self, place: str) -> Path:
        """
        The path of the tensor at a place, or of the one that it belongs to.

        What no conversion touched counts with the tensor that was being converted; a
        user's own call is `direct`.
        """
        standing = {one: (kind, t) for one, kind, t in self.placed_before}
        taken: dict[tuple[str, int] | int, Path] = {}
        for one in self.converted:
            taken[one.tensor] = taken[one.role, one.tensor] = one.path
        while place:
            found = standing.get(place)
            if found is not None and found[1] in taken:
                return taken.get(found, taken[found[1]])
            place = place.rpartition(".")[0]
        if self.under_way is not None:
            return self.under_way
        return self.converted[-1].path if self.converted else "direct"

    def way(self, place: str) -> Path:
        """The path of what is being converted; at the end, of the tensor at a place."""
        return self.path(place) if self.under_way is None else self.under_way


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
