"""
What can an action come to?
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import evolve, field, frozen

from swapmodel.state.events import Event
from swapmodel.state.heap import Heap


class Stop:
    """Why an operation ends where it stands; `None` in its place: it goes on."""

    __slots__ = ()


@frozen
class Refusal(Stop):
    """Why torch raises: a rule, the operand it names, and what its text tells."""

    rule: str
    """The id of the rule, such as `swap/few-owners`."""

    operand: str = ""
    """What the text names: `t1`, `m.weight`, ..."""

    facts: tuple[tuple[str, int | str], ...] = ()
    """What else the text tells, by name, such as the use count."""

    within: tuple[Refusal, ...] = ()
    """The refusals raised from this one, innermost first (`raise ... from`)."""


def raised_after(refusal: Refusal, raised: Refusal) -> Refusal:
    """The refusal that came first, within the one raised while it was handled."""
    return evolve(refusal, within=(*refusal.within, raised))


@frozen
class Crash(Stop):
    """Torch would read memory that is not there."""

    why: str


@frozen
class Unmodelled(Stop):
    """The model declines to say."""

    why: str


@frozen
class Done:
    """The action finished."""

    heap: Heap
    events: tuple[Event, ...] = ()


@frozen
class Refused:
    """Torch raised, and left the heap as it was by then."""

    heap: Heap
    refusal: Refusal
    events: tuple[Event, ...] = ()

    @property
    def rule(self) -> str:
        """The rule that refused, innermost."""
        return self.refusal.rule


@frozen
class Undefined:
    """Torch crashes or reads freed memory; the program ends here."""

    heap: Heap
    why: str
    events: tuple[Event, ...] = ()


@frozen
class OutOfScope:
    """The model declines to say what torch does, and why it declines."""

    why: str

    events: tuple[Event, ...] = field(default=(), eq=False)
    """What had happened by then: the path of a FakeTensor was chosen."""


Outcome: TypeAlias = Done | Refused | Undefined | OutOfScope
