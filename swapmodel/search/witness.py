"""
Which is the shortest program that ends in what is asked for?
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from attrs import frozen

from swapmodel.actions import Action, Program
from swapmodel.invariants.violation import Step
from swapmodel.outcomes import OutOfScope, Undefined
from swapmodel.search.canonical import canonical
from swapmodel.search.enabled import enabled
from swapmodel.search.scope import Scope
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.heap import Heap

Asked: TypeAlias = Callable[[Step], bool]
"""Whether the last action of a program shows what is asked for."""


@frozen
class Witness:
    """A program whose last action shows what was asked for, and none is shorter."""

    scope: str
    start: str
    heap: Heap
    program: Program


def witness(scopes: Iterable[Scope], spec: Spec, asked: Asked) -> Witness | None:
    """
    Find the shortest program of some scopes, or `None` if none of them has one.

    Of equally short ones it is the first, in the order of the scopes and of their
    actions.
    """
    best: Witness | None = None
    for scope in scopes:
        bound = scope.depth if best is None else min(scope.depth, _steps(best) - 1)
        best = _first(scope, spec, asked, bound) or best
    return best


def _steps(one: Witness) -> int:
    return len(one.program)


def _first(scope: Scope, spec: Spec, asked: Asked, bound: int) -> Witness | None:
    """Search one scope, level by level."""
    visited: set[bytes] = set()
    frontier: list[tuple[str, Heap, Heap, Program]] = []
    for name, heap in scope.starts:
        visited.add(canonical(heap))
        frontier.append((name, heap, heap, ()))
    for _ in range(bound):
        behind: list[tuple[str, Heap, Heap, Program]] = []
        for name, start, heap, program in frontier:
            for action, one in _steps_from(heap, scope.actions, spec):
                longer = (*program, action)
                if asked(one):
                    return Witness(scope.id, name, start, longer)
                key = canonical(one.then)
                if key not in visited and not isinstance(one.outcome, Undefined):
                    visited.add(key)
                    behind.append((name, start, one.then, longer))
        frontier = behind
    return None


def _steps_from(
    heap: Heap, actions: tuple[Action, ...], spec: Spec
) -> Iterator[tuple[Action, Step]]:
    for action in enabled(heap, actions):
        outcome = step(heap, action, spec)
        if not isinstance(outcome, OutOfScope):
            yield action, Step(heap, action, outcome, spec)
