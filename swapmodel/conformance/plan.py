"""
Which programs are recorded?  The model says, and real torch is asked afterwards.

Every program of two actions of the skeleton's start heaps, and longer ones at random.
What the model declines, and what a release lacks, is left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, TypeAlias

from attrs import Factory, define, evolve, frozen

from swapmodel.actions import Action, Convert
from swapmodel.conformance.programs import Change, draw
from swapmodel.conformance.starts import exhaustive_scopes
from swapmodel.conformance.starts_at_random import Starts, starts_at_random
from swapmodel.conversions import ToDevice
from swapmodel.outcomes import Outcome, OutOfScope, Undefined
from swapmodel.search.enabled import enabled
from swapmodel.search.scope import Scope
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.specfiles.actions import action_from_table, table_of
from swapmodel.specfiles.given import heap_from_given
from swapmodel.specfiles.write_given import given_of
from swapmodel.state.build import NN_BUFFER
from swapmodel.state.heap import Heap

DEPTH = 2
RANDOM_DEPTH = 15
RANDOM_PROGRAMS = 2_000

BESIDE = ("q", "u")
"""The variables of other tensors, which stay on the CPU in half of the start heaps of
another device."""

Lacks: TypeAlias = Callable[[Action | Heap], str | None]
"""What a release lacks for an action or a start heap, if it lacks something."""


@frozen
class Planned:
    """One action of a walk, and whether torch is looked at after it."""

    depth: int
    action: Action
    look: bool = True

    undefined: bool = False
    """Whether the model expects that torch misbehaves."""


@frozen
class PlannedWalk:
    """A walk that nobody has walked."""

    part: str
    start: str
    looked: bool
    taken: tuple[Planned, ...]


@define
class Plan:
    """Everything that is to be recorded of one release."""

    spec: Spec
    lacks: Lacks
    buffers: bool = True
    """Whether the release has a class `torch.nn.Buffer`."""

    device: str = "cpu"
    starts: dict[str, Heap] = Factory(dict)
    walks: list[PlannedWalk] = Factory(list)
    left_out: Counter[str] = Factory(Counter)

    def every(self, scope: Scope) -> None:
        """Plan every program of a scope: a walk for each action that can be first."""
        for start, heap in self._possible(scope.id, scope.starts):
            for action in enabled(heap, scope.actions):
                taken = tuple(self._behind(scope, heap, action, 1))
                if taken:
                    self.walks.append(PlannedWalk("exhaustive", start, False, taken))

    def _behind(
        self, scope: Scope, before: Heap, action: Action, depth: int
    ) -> Iterator[Planned]:
        outcome = self._step(before, action)
        if isinstance(outcome, OutOfScope):
            return
        undefined = isinstance(outcome, Undefined)
        yield Planned(depth, action, undefined=undefined)
        if not undefined and depth < scope.depth:
            for after in enabled(outcome.heap, scope.actions):
                yield from self._behind(scope, outcome.heap, after, depth + 1)

    def drawn(self, starts: Starts, seeds: range) -> None:
        """
        Plan one program at random for each seed.

        Every other one is looked at after its last action alone, because looking
        might change something.
        """
        known = tuple(self._possible("random", starts))
        change = None if self.device == "cpu" else _onto(self.device)
        for seed in seeds:
            number, program = draw(known, RANDOM_DEPTH, seed, self.spec, change=change)
            start, heap = known[number]
            taken = list[Planned]()
            looked = seed % 2 == 0
            for depth, action in enumerate(program, 1):
                outcome = self._step(heap, action)
                if isinstance(outcome, OutOfScope):
                    break
                undefined = isinstance(outcome, Undefined)
                taken.append(Planned(depth, action, looked, undefined))
                heap = outcome.heap
            if taken:
                taken[-1] = evolve(taken[-1], look=True)
                walk = PlannedWalk("random", start, looked, tuple(taken))
                self.walks.append(walk)

    def _step(self, before: Heap, action: Action) -> Outcome:
        lacking = self.lacks(action)
        outcome = OutOfScope(lacking) if lacking else step(before, action, self.spec)
        if isinstance(outcome, OutOfScope):
            self.left_out[outcome.why] += 1
        return outcome

    def _possible(self, part: str, starts: Starts) -> Iterator[tuple[str, Heap]]:
        """
        Keep the start heaps that this release can make, as a file gives them.

        A recording is replayed from what its file says.
        """
        for name, heap in starts:
            lacking = self.lacks(heap)
            if lacking:
                self.left_out[f"start heaps: {lacking}"] += 1
                continue
            start, given = f"{part}/{name}", given_of(heap)
            if not self.buffers:
                _unmark(given)
            self.starts[start] = heap_from_given(given, start)
            yield start, self.starts[start]


def _unmark(given: dict[str, Any]) -> None:
    """Make plain tensors of those that are marked as `torch.nn.Buffer`."""
    for table in given.get("tensors", {}).values():
        if table.get("attributes") == NN_BUFFER:
            del table["attributes"]


def plan(
    spec: Spec,
    lacks: Lacks,
    buffers: bool = True,
    *,
    device: str = "cpu",
    depth: int = DEPTH,
    programs: int = RANDOM_PROGRAMS,
) -> Plan:
    """Plan a recording, for another device with everything moved to it and back."""
    made = Plan(spec, lacks, buffers, device)
    scopes, starts = exhaustive_scopes(depth), starts_at_random()
    if device != "cpu":
        scopes = tuple(_scope_on(device, one) for one in scopes)
        starts = tuple(_starts_on(device, starts))
    for scope in scopes:
        made.every(scope)
    made.drawn(starts, range(programs))
    return made


# -- Another device ------------------------------------------------------------------


def _scope_on(device: str, scope: Scope) -> Scope:
    moves: tuple[Action, ...] = ()
    if any(isinstance(one, Convert) for one in scope.actions):
        moves = tuple(Convert("m", ToDevice(one)) for one in ("cpu", device))
    starts = tuple(_starts_on(device, scope.starts))
    return evolve(scope, starts=starts, actions=(*scope.actions, *moves))


def _starts_on(device: str, starts: Starts) -> Iterator[tuple[str, Heap]]:
    """Each start heap on the device, and with its other tensors on the CPU."""
    for name, heap in starts:
        for beside in (device, "cpu"):
            given: dict[str, Any] = given_of(heap)
            for label, table in given.get("tensors", {}).items():
                where = beside if label in BESIDE else device
                if not {"over", "view_of", "inner"} & table.keys():
                    table.setdefault("device", where)
            yield f"{name}-{beside}", heap_from_given(given, name)


def _onto(device: str) -> Change:
    """Name the device in half of the actions that name the CPU."""

    def change(action: Action, random: Random) -> Action:
        return action_from_table(_named(table_of(action), random), "drawn")

    def _named(table: dict[str, Any], random: Random) -> dict[str, Any]:
        made = dict[str, Any]()
        for key, value in table.items():
            if isinstance(value, dict):
                value = _named(value, random)
            elif key == "device" and value == "cpu" and random.random() < 0.5:
                value = device
            made[key] = value
        return made

    return change
