"""
What does the model say that Python would see after an action?
"""

from __future__ import annotations

from swapmodel.conformance.observation import Result, look
from swapmodel.outcomes import Done, Refusal, Refused
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.rules import rules
from swapmodel.specfiles.texts import text_of
from swapmodel.state.events import Fired
from swapmodel.state.heap import Heap

MISBEHAVED = ("died", "not allocated")
"""How a program may end in torch that the model calls undefined."""


def predicted(outcome: Done | Refused, spec: Spec) -> Result:
    """What Python would see of an outcome."""
    return looked(outcome, spec)[0]


def looked(outcome: Done | Refused, spec: Spec) -> tuple[Result, Heap]:
    """What Python would see of an outcome, and the heap that looking leaves."""
    fired = _in_order([one for one in outcome.events if isinstance(one, Fired)])
    then, heap = look(outcome.heap)
    if isinstance(outcome, Done):
        return Result("done", (), fired, then), heap
    return Result("refused", _chain(outcome.refusal, spec), fired, then), heap


def _in_order(fired: list[Fired]) -> tuple[str, ...]:
    """Hooks as they fired; behind them, sorted, what called back as tensors died."""
    called = sorted([one.hook for one in fired if one.kind == "weakref"])
    return (*[one.hook for one in fired if one.kind != "weakref"], *called)


def _chain(refusal: Refusal, spec: Spec) -> tuple[tuple[str, str], ...]:
    """Spell out a refusal and what was raised from it, as Python chains them."""
    return tuple(
        [
            (" | ".join(rules()[one.rule].raises), text_of(spec, one) or "")
            for one in (*reversed(refusal.within), refusal)
        ]
    )
