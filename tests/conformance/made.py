"""Recordings that nobody recorded: what the model says, as if torch had shown it."""

from collections.abc import Iterable

from attrs import evolve

from swapmodel.actions import Program
from swapmodel.conformance.recording import Recording, Seen, Taken, Walk
from swapmodel.conformance.replay import predictions
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.provenance import Provenance
from swapmodel.state.heap import Heap

PROVENANCE = Provenance(
    torch="2.13.0",
    build="2.13.0+cpu",
    git="0" * 40,
    python="3.11.7",
    platform="Linux x86_64",
    date="2026-12-01",
    device="cpu",
    unseen=(),
    left_out={"a reason": 2},
)


def walk_of(program: Program, seen: Seen = "went on", *, looked: bool = True) -> Walk:
    """A walk along one program, that shows the same after every action."""
    taken = [Taken(depth, action, seen) for depth, action in enumerate(program, 1)]
    return Walk("random", "here", looked, tuple(taken))


def filled(walk: Walk, start: Heap, spec: Spec) -> Walk:
    """The walk with what the model promises in place of what is looked at."""
    taken = list(walk.taken)
    # What is asked is told by whether there is something to compare with.
    for one in predictions(walk, start, spec):
        seen = one.promised if one.promised is not None else "died"
        if one.taken.seen is not None:
            taken[one.number] = evolve(one.taken, seen=seen)
    return evolve(walk, taken=tuple(taken))


def recording_of(start: Heap, walks: Iterable[Walk], **provenance: object) -> Recording:
    """A recording of walks from one start heap."""
    told = evolve(PROVENANCE, **provenance)  # type: ignore[arg-type]
    return Recording(told, {"here": start}, tuple(walks))
