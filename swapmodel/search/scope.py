"""
What does one exhaustive search range over?
"""

from __future__ import annotations

from attrs import frozen

from swapmodel.actions import Action
from swapmodel.state.heap import Heap


@frozen(kw_only=True)
class Scope:
    """Start heaps, the actions tried on every heap, and a bound on their number."""

    id: str
    """Its file's name under `specs/scopes`."""

    statement: str = ""
    """One sentence for people: what this scope is about."""

    starts: tuple[tuple[str, Heap], ...]
    """Where programs start, by id; the search tries them in this order."""

    actions: tuple[Action, ...]
    """What is tried on every heap; the order is contract, a path of indices replays."""

    depth: int
    """The longest program."""

    pinned: tuple[tuple[str, int], ...] = ()
    """How many heaps the search must find, by the id of a spec."""
