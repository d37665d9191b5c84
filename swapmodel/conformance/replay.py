"""
Does the model do what a recording of a real release says?  It needs no torch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from attrs import Factory, define, evolve, frozen

from swapmodel.actions import Program
from swapmodel.conformance.differences import differences, hide
from swapmodel.conformance.observation import Result
from swapmodel.conformance.predicted import MISBEHAVED, looked
from swapmodel.conformance.recording import Recording, Taken, Walk
from swapmodel.outcomes import Done, Outcome, OutOfScope, Refused, Undefined
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.heap import Heap

UNMODELLED = 0.02
"""The share of programs whose end the model may decline to say."""

KEPT = 20
"""How many divergences are kept in full."""


@frozen
class Prediction:
    """What the model says of one action of a walk."""

    number: int
    """Which of the walk."""

    taken: Taken
    program: Program
    """Up to that action."""

    outcome: Outcome
    promised: Result | None = None
    """What Python would see, where torch was looked at."""


def predictions(walk: Walk, start: Heap, spec: Spec) -> Iterator[Prediction]:
    """Take a walk in the model; what stands behind an end is left out."""
    heaps: list[Heap] = [start]
    program: Program = ()
    for number, taken in enumerate(walk.taken):
        if taken.depth > len(heaps):
            continue
        del heaps[taken.depth :]
        program = (*program[: taken.depth - 1], taken.action)
        outcome = step(heaps[-1], taken.action, spec)
        if not isinstance(outcome, Done | Refused) or taken.seen is None:
            yield Prediction(number, taken, program, outcome)
        else:
            promised, then = looked(outcome, spec)
            yield Prediction(number, taken, program, outcome, promised)
            if walk.looked:
                outcome = evolve(outcome, heap=then)
        if isinstance(outcome, Done | Refused):
            heaps.append(outcome.heap)


@frozen
class Differing:
    """A program after which a recording and the model say something else."""

    start: str
    program: Program
    differing: dict[str, tuple[Any, Any]]
    """What differs, with the model's and with torch's value."""


@define
class Replayed:
    """What came of replaying one recording."""

    programs: int = 0
    """Those whose end torch showed."""

    diverging: int = 0
    declined: Counter[str] = Factory(Counter)
    """Why the model does not say any more what an action comes to."""

    kept: list[Differing] = Factory(list)

    @property
    def as_recorded(self) -> bool:
        """Whether nothing diverges and the model declines little."""
        few = sum(self.declined.values()) <= UNMODELLED * self.programs
        return not self.diverging and few


def replay(recording: Recording, spec: Spec, *, share: int = 1) -> Replayed:
    """
    Run the programs of a recording in the model alone, and compare what is seen.

    A *share* of n runs every n-th walk.  Behind a divergence nothing is compared.
    """
    found = Replayed()
    unseen = recording.provenance.unseen
    for walk in recording.walks[::share]:
        diverged = len(walk.taken)
        for one in predictions(walk, recording.starts[walk.start], spec):
            if one.taken.depth > diverged:
                continue
            diverged = len(walk.taken)
            found.programs += one.taken.seen is not None
            if isinstance(one.outcome, OutOfScope):
                found.declined[one.outcome.why] += 1
                continue
            different = _differing(one, unseen)
            if different:
                diverged = one.taken.depth
                found.diverging += 1
                if len(found.kept) < KEPT:
                    found.kept.append(Differing(walk.start, one.program, different))
    return found


def _differing(one: Prediction, unseen: tuple[str, ...]) -> dict[str, tuple[Any, Any]]:
    outcome, seen = one.outcome, one.taken.seen
    if seen is None:
        return {}
    if isinstance(seen, Result) and one.promised is not None:
        return differences(hide(one.promised, unseen), seen)
    if isinstance(outcome, Undefined) and seen in MISBEHAVED:
        return {}
    kind = type(outcome).__name__.lower()
    return {"end": (kind, seen.kind if isinstance(seen, Result) else seen)}
