"""
What does a scope hold, and which programs of it break which invariant?

Breadth first, so that the first program found for a cause is a shortest one.
"""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from attrs import define, field, frozen

from swapmodel.actions import Action, Program
from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.invariants.of_steps import CONTENT
from swapmodel.invariants.violation import Cause, Invariant, Step
from swapmodel.outcomes import Outcome, OutOfScope, Refused, Undefined
from swapmodel.run import Counterexample, find_cause
from swapmodel.search.canonical import canonical
from swapmodel.search.enabled import enabled
from swapmodel.search.scope import Scope
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.events import Converted, Path
from swapmodel.state.heap import Heap

Stopped: TypeAlias = Literal["limit", "interrupt"]
"""Why a search ended before its scope did."""

Progress: TypeAlias = Callable[[int, int, int], None]
"""Called now and then with the depth, the heaps and the transitions so far."""

START = -1
"""The action index of a heap that no action led to: its parent counts the starts."""


@frozen(kw_only=True)
class Exploration:
    """What a search has found."""

    spec: str
    scope: str
    counterexamples: tuple[Counterexample, ...]
    """One for each cause, shortest first, then in the order of the search."""

    heaps: int
    """How many heaps there are, as far as `canonical` tells them apart."""

    transitions: int
    depth: int
    """The length of the longest program that was tried."""

    rules: tuple[str, ...]
    """The rules that refused something, sorted."""

    paths: tuple[Path, ...]
    """The paths that a tensor took, sorted."""

    unmodelled: tuple[tuple[str, int], ...] = ()
    """Why the model declined to say, and how often, sorted."""

    stopped: Stopped | None = None
    """Why it ended before its scope did, if it did."""

    @property
    def complete(self) -> bool:
        """Whether every program of the scope was tried, up to its depth."""
        return self.stopped is None


def explore(
    scope: Scope,
    spec: Spec,
    *,
    invariants: tuple[Invariant, ...] = INVARIANTS,
    limit_seconds: float | None = None,
    progress: Progress | None = None,
) -> Exploration:
    """
    Try every program of a scope, each heap once, and keep what breaks an invariant.

    The result is the same in every process.  After *limit_seconds*, or on Ctrl-C,
    it is what was found until then.
    """
    search = Search(scope, spec, invariants, progress)
    if limit_seconds is not None:
        search.deadline = time.monotonic() + limit_seconds
    try:
        search.run()
    except KeyboardInterrupt:
        search.stopped = "interrupt"
    return search.exploration()


@define
class Search:
    """A search under way."""

    scope: Scope
    spec: Spec
    invariants: tuple[Invariant, ...]
    progress: Progress | None = None
    deadline: float = float("inf")
    stopped: Stopped | None = None

    visited: set[bytes] = field(factory=set)
    parents: array[int] = field(factory=lambda: array("i"))
    """By heap: the heap it was reached from, or the index of its start."""

    taken: array[int] = field(factory=lambda: array("h"))
    """By heap: the index of the action that led to it, or `START`."""

    depth: int = 0
    transitions: int = 0
    found: dict[Cause, Counterexample] = field(factory=dict)
    rules: set[str] = field(factory=set)
    paths: set[Path] = field(factory=set)
    unmodelled: Counter[str] = field(factory=Counter)

    def run(self) -> None:
        """Search level by level; only the frontier holds heaps."""
        index = {action: number for number, action in enumerate(self.scope.actions)}
        frontier = list(self._started())
        while frontier and self.depth < self.scope.depth and self.stopped is None:
            self.depth += 1
            last = self.depth == self.scope.depth
            behind: list[tuple[int, Heap]] = []
            for number, heap in frontier:
                if self._too_late():
                    return
                for action in enabled(heap, self.scope.actions):
                    then = self._tried(number, heap, action)
                    if then is None or not self._is_new(then, number, index[action]):
                        continue
                    if not last:
                        behind.append((len(self.parents) - 1, then))
            frontier = behind

    def _started(self) -> Iterator[tuple[int, Heap]]:
        for number, (_, heap) in enumerate(self.scope.starts):
            if self._is_new(heap, number, START):
                yield len(self.parents) - 1, heap

    def _is_new(self, heap: Heap, parent: int, action: int) -> bool:
        key = canonical(heap)
        if key in self.visited:
            return False
        self.visited.add(key)
        self.parents.append(parent)
        self.taken.append(action)
        return True

    def _too_late(self) -> bool:
        if self.progress is not None:
            self.progress(self.depth, len(self.visited), self.transitions)
        if time.monotonic() > self.deadline:
            self.stopped = "limit"
        return self.stopped is not None

    def _tried(self, number: int, heap: Heap, action: Action) -> Heap | None:
        """The heap that an action leads to, if it can be another one."""
        self.transitions += 1
        outcome = step(heap, action, self.spec)
        if isinstance(outcome, OutOfScope):
            self.unmodelled[outcome.why] += 1
            return None
        self._reached(action, outcome)
        one = Step(heap, action, outcome, self.spec)
        for invariant in self.invariants:
            for violation in invariant.check(one):
                cause = find_cause(one, violation, invariant)
                if cause not in self.found:
                    start, program = self.program(number)
                    self.found[cause] = Counterexample(
                        self.spec.id,
                        self.scope.id,
                        *self.scope.starts[start],
                        (*program, action),
                        violation,
                        cause,
                    )
        then = outcome.heap
        ended = isinstance(outcome, Undefined)
        return None if ended or then == heap else then

    def _reached(self, action: Action, outcome: Outcome) -> None:
        """Note which rule refused and which paths were taken."""
        assert not isinstance(outcome, OutOfScope)
        if isinstance(outcome, Refused):
            self.rules.add(outcome.refusal.rule)
            self.rules.update(one.rule for one in outcome.refusal.within)
        if isinstance(action, CONTENT):
            converted = (one for one in outcome.events if isinstance(one, Converted))
            self.paths.update({one.path for one in converted} or {"direct"})

    def program(self, number: int) -> tuple[int, Program]:
        """The index of the start of a heap that was found, and the way from there."""
        actions: list[Action] = []
        while self.taken[number] != START:
            actions.append(self.scope.actions[self.taken[number]])
            number = self.parents[number]
        return self.parents[number], tuple(reversed(actions))

    def exploration(self) -> Exploration:
        """What has been found so far."""
        return Exploration(
            spec=self.spec.id,
            scope=self.scope.id,
            counterexamples=tuple(self.found.values()),
            heaps=len(self.parents),
            transitions=self.transitions,
            depth=self.depth,
            rules=tuple(sorted(self.rules)),
            paths=tuple(sorted(self.paths)),
            unmodelled=tuple(sorted(self.unmodelled.items())),
            stopped=self.stopped,
        )
