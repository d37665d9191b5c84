"""
The object-swap scope for minicheck, an independent explicit-state model checker.

Written from the scope's description alone: no line of swapmodel is used.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TypeAlias

import minicheck

Content: TypeAlias = tuple[int, int, int]
"""Which value, in which dtype (0 or 1), and its gradient's dtype (or `NONE`)."""

State: TypeAlias = tuple[tuple[Content, bool], ...]
"""For each object its content, and whether a weak reference of it is held."""

NONE = 2
"""No gradient."""


def protocol(tensors: int, *, gradient_is_cast: bool) -> "minicheck.Protocol":
    """The scope with that many tensors, as minicheck takes it."""
    return minicheck.Protocol(
        name=f"object-swap-{tensors}",
        candidate=False,
        fields=tuple(f"t{n}" for n in range(tensors)),
        initial=tuple(((n, 0, 0), False) for n in range(tensors)),
        transitions=lambda state: list(transitions(state, gradient_is_cast)),
        invariants={"every value is there once": values_are_kept},
    )


def values_are_kept(state: dict[str, tuple[Content, bool]]) -> bool:
    """Whether every value is still held by exactly one object."""
    values = sorted(content[0] for content, _ in state.values())
    return values == list(range(len(values)))


def transitions(state: State, gradient_is_cast: bool) -> Iterator[tuple[str, State]]:
    """Every action on every tensor, or pair of them, that is not refused."""
    for a, b in combinations(range(len(state)), 2):
        if not (state[a][1] or state[b][1]):
            yield f"swap {a} {b}", exchanged(state, a, b)
    for n, (content, referred) in enumerate(state):
        value, dtype, grad = content
        for to in (0, 1):
            cast = to if gradient_is_cast and grad != NONE else grad
            yield f"cast {n} to {to}", replaced(state, n, (value, to, cast), referred)
        yield f"weakref {n}", replaced(state, n, content, not referred)
        yield f"fill {n}", replaced(state, n, (value, dtype, dtype), referred)
        yield f"clear {n}", replaced(state, n, (value, dtype, NONE), referred)


def exchanged(state: State, a: int, b: int) -> State:
    """Contents change places; weak references follow the objects and stay."""
    swapped = replaced(state, a, state[b][0], state[a][1])
    return replaced(swapped, b, state[a][0], state[b][1])


def replaced(state: State, n: int, content: Content, referred: bool) -> State:
    """The same state with another object at one place."""
    return (*state[:n], (content, referred), *state[n + 1 :])


def count(tensors: int, *, gradient_is_cast: bool) -> int:
    """How many states minicheck finds, all of which keep every value."""
    check: Callable[..., dict[str, object]] = minicheck.check_safety
    model = protocol(tensors, gradient_is_cast=gradient_is_cast)
    found = check(model, max_states=1_000_000)
    assert found["exhaustive"] is True
    states = found["reachable_states"]
    assert isinstance(states, int)
    return states
