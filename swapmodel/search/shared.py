"""
Which specs cannot be told apart by a scope, so that one search serves them all?
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, field, frozen

from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.invariants.violation import Invariant
from swapmodel.search.explore import Exploration, Progress, explore
from swapmodel.search.scope import Scope
from swapmodel.semantics.spec import (
    PREDICATES,
    Frame,
    Handler,
    Phase,
    Row,
    Spec,
)
from swapmodel.state.draft import Draft
from swapmodel.state.events import Path


@frozen(kw_only=True)
class Asked(Spec):
    """A spec that remembers which of its tables the interpreter asked for."""

    asked: set[tuple[str, str]] = field(factory=set, eq=False, repr=False)
    chosen: set[tuple[str, frozenset[str], Path]] = field(
        factory=set, eq=False, repr=False
    )
    """Each choice that was made: the predicates that held there, and the path."""

    def has(self, name: str) -> bool:
        """Whether this spec has the operation at all."""
        self.asked.add(("operations", name))
        return super().has(name)

    def phases(self, name: str) -> tuple[Phase, ...]:
        """The phases of an operation, in order."""
        self.asked.add(("operations", name))
        return super().phases(name)

    def handlers(self, name: str) -> tuple[Handler, ...]:
        """What an operation does when it is refused, in order."""
        self.asked.add(("refused", name))
        return super().handlers(name)

    def path(self, choice: str, draft: Draft, frame: Frame) -> Path:
        """The path of the first row of *choice* whose predicates all hold."""
        held = frozenset(
            name
            for (one, name), holds in PREDICATES.items()
            if one == choice and holds(draft, frame)
        )
        path = super().path(choice, draft, frame)
        self.chosen.add((choice, held, path))
        return path

    def answers(self, other: Spec) -> bool:
        """Whether *other* answers everything that was asked in the same way."""
        return all(
            dict(getattr(self, table)).get(name)
            == dict(getattr(other, table)).get(name)
            for table, name in self.asked
        ) and all(
            path == _first(dict(other.choices).get(choice, ()), held)
            for choice, held, path in self.chosen
        )


def _first(rows: tuple[Row, ...], held: frozenset[str]) -> Path | None:
    """The path of the first row that applies where just these predicates hold."""
    return next((row.path for row in rows if held.issuperset(row.predicates)), None)


def asked(spec: Spec) -> Asked:
    """The same spec, which has been asked nothing yet."""
    return Asked(
        id=spec.id,
        operations=spec.operations,
        refused=spec.refused,
        choices=spec.choices,
    )


def explore_all(
    scope: Scope,
    specs: Iterable[Spec],
    *,
    invariants: tuple[Invariant, ...] = INVARIANTS,
    limit_seconds: float | None = None,
    progress: Progress | None = None,
) -> tuple[Exploration, ...]:
    """
    Explore a scope under each spec, searching once for those that agree on it.

    Specs agree when they answer alike whatever the search asked.  A search that was
    stopped has not asked everything and is not shared; Ctrl-C stops them all.
    """
    found: list[Exploration] = []
    searched: list[tuple[Asked, Exploration]] = []
    for spec in specs:
        for one, exploration in searched:
            if one.answers(spec):
                found.append(under(exploration, spec))
                break
        else:
            watched = asked(spec)
            exploration = explore(
                scope,
                watched,
                invariants=invariants,
                limit_seconds=limit_seconds,
                progress=progress,
            )
            found.append(exploration)
            if exploration.complete:
                searched.append((watched, exploration))
            if exploration.stopped == "interrupt":
                break
    return tuple(found)


def under(exploration: Exploration, spec: Spec) -> Exploration:
    """What a search found, as found under another spec that agrees with its own."""
    return evolve(
        exploration,
        spec=spec.id,
        counterexamples=tuple(
            evolve(one, spec=spec.id) for one in exploration.counterexamples
        ),
    )
