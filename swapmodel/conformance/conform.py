"""
Does the model do what the torch that is here does?  All parts of the answer.
"""

from __future__ import annotations

import gc
import json
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import torch
from attrs import field, frozen

from swapmodel.conformance import areas, programs, starts, starts_of_swaps
from swapmodel.conformance.lockstep import Divergence
from swapmodel.conformance.programs import Tally
from swapmodel.conformance.starts_at_random import starts_at_random
from swapmodel.conformance.world import settle
from swapmodel.search.scope import Scope
from swapmodel.specfiles.actions import table_of
from swapmodel.specfiles.read import load_spec
from swapmodel.specfiles.schema import BadInput, nearest
from swapmodel.specfiles.write import write_text

SUMMARY = Path("build") / "conform" / "summary.json"

UNMODELLED = 0.02
"""The share of a part's programs that may end where the model declines to say."""

RANDOM_DEPTH = 15
RANDOM_PROGRAMS = 6_000
RANDOM_JOB = 250

CONTROLS = ("torch-2.1", "torch-2.3")
"""Specs of other releases: each must diverge."""

AREA = "area:"
"""How the name of a part begins that runs the start heaps of one area."""

PARTS = (
    "exhaustive-3",
    "swap-4",
    *[f"{AREA}{name}" for name in areas.AREAS],
    "random",
    "negative control",
)


@frozen(kw_only=True)
class Part:
    """What came of one part."""

    id: str
    spec: str
    seconds: float
    tally: Tally = field(eq=False)

    @property
    def control(self) -> bool:
        """Whether this part must diverge."""
        return self.id == "negative control"

    @property
    def as_claimed(self) -> bool:
        """Whether it diverges exactly if it must, and the model declines little."""
        declines = not self.control and self.unmodelled >= UNMODELLED
        return bool(self.tally.diverging) == self.control and not declines

    @property
    def unmodelled(self) -> float:
        """The share of its programs that end where the model declines to say."""
        count = sum(self.tally.unmodelled.values())
        return count / max(self.tally.programs, 1)

    def data(self) -> dict[str, Any]:
        """The part as a summary tells it."""
        return {
            "id": self.id,
            "spec": self.spec,
            "as_claimed": self.as_claimed,
            "programs": self.tally.programs,
            "actions": self.tally.actions,
            "divergences": self.tally.diverging,
            "undefined": self.tally.undefined,
            "unmodelled": dict(sorted(self.tally.unmodelled.items())),
            "unmodelled_share": round(self.unmodelled, 5),
            "seconds": round(self.seconds, 1),
            "examples": [_example(*one) for one in self.tally.kept[: programs.KEPT]],
        }


@frozen
class Summary:
    """Every part that ran, and the torch that it ran on."""

    torch: str
    parts: tuple[Part, ...]

    complete: bool = True
    """Whether every part that was asked for ran to its end."""

    share: int = 1
    """Of how many walks and draws one was run."""

    @property
    def as_claimed(self) -> bool:
        """Whether the model and torch agree, and the wrong specs do not."""
        return self.complete and all(part.as_claimed for part in self.parts)

    def text(self) -> str:
        """The summary as JSON."""
        told = {
            "torch": self.torch,
            "complete": self.complete,
            "share": self.share,
            "as_claimed": self.as_claimed,
            "parts": [part.data() for part in self.parts],
        }
        return json.dumps(told, indent=2) + "\n"


Progress: TypeAlias = Callable[[Part], None]

Job: TypeAlias = tuple[Callable[..., Tally], tuple[Any, ...]]


def conform(
    parts: Sequence[str] = PARTS,
    *,
    processes: int = 2,
    share: int = 1,
    progress: Progress | None = None,
    out: Path = SUMMARY,
) -> Summary:
    """
    Run *parts* in order, tell *progress* of each, and write the summary to *out*.

    A *share* of n runs every n-th walk or draw of each part, always the same ones.

    What it finds does not depend on the number of processes.  When it is
    interrupted, the summary tells the parts that ran to their end.
    """
    for part in parts:
        if part not in PARTS:
            what = f"unknown part {part!r}"
            raise BadInput(what, "command line", nearest(part, PARTS))
    release = torch.__version__.partition("+")[0]
    spec = load_spec(release).id
    todo = [
        (part, name)
        for part in parts
        for name in (CONTROLS if part == "negative control" else (spec,))
    ]
    done = list[Part]()
    try:
        with _pool(processes) as pool:
            for part, name in todo:
                done.append(_run_part(pool, part, name, share))
                if progress is not None:
                    progress(done[-1])
    finally:
        summary = Summary(release, tuple(done), len(done) == len(todo), share)
        write_text(out, summary.text())
    return summary


def _pool(processes: int) -> ProcessPoolExecutor:
    context = get_context("spawn")
    return ProcessPoolExecutor(processes, context, initializer=start_worker)


def start_worker() -> None:
    """Leave Ctrl-C to the process that waits, and make this one fit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settle()


def _run_part(pool: ProcessPoolExecutor, part: str, spec: str, share: int) -> Part:
    began = perf_counter()
    tally = Tally()
    given_jobs = islice(_jobs(part, spec), 0, None, share)
    jobs = [pool.submit(run, *given) for run, given in given_jobs]
    for job in jobs:
        tally.add(_result(job, jobs))
    seconds = perf_counter() - began
    return Part(id=part, spec=spec, seconds=seconds, tally=tally)


def _result(job: Future[Tally], jobs: list[Future[Tally]]) -> Tally:
    try:
        return job.result()
    except BaseException:
        for one in jobs:
            one.cancel()
        raise


def _jobs(part: str, spec: str) -> Iterator[Job]:
    if part == "random":
        for first in range(0, RANDOM_PROGRAMS, RANDOM_JOB):
            yield _drawn, (first, min(first + RANDOM_JOB, RANDOM_PROGRAMS), spec)
        return
    for number, scope in enumerate(_scopes(part)):
        for start in range(len(scope.starts)):
            for first in range(len(programs.first_actions(scope, start))):
                yield _walk, (part, number, start, first, spec)


def _walk(part: str, number: int, start: int, first: int, spec: str) -> Tally:
    scope = _scopes(part)[number]
    gc.freeze()
    action = programs.first_actions(scope, start)[first]
    return programs.walk(scope, start, action, load_spec(spec))


@cache
def _scopes(part: str) -> tuple[Scope, ...]:
    """The scopes of a part that runs every program of some."""
    if part.startswith(AREA):
        return areas.AREAS[part.removeprefix(AREA)]()
    if part == "swap-4":
        return starts_of_swaps.scopes()
    return starts.exhaustive_scopes(2 if part == "negative control" else 3)


def _drawn(first: int, end: int, spec: str) -> Tally:
    seeds = range(first, end)
    return programs.run_drawn(starts_at_random(), RANDOM_DEPTH, seeds, load_spec(spec))


def _example(start: str, found: Divergence) -> dict[str, Any]:
    return {
        "start": start,
        "program": [table_of(action) for action in found.program],
        "differing": {
            key: {"model": repr(model), "torch": repr(real)}
            for key, (model, real) in found.differing.items()
        },
    }
