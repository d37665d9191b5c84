"""
What do all searches find, and is it what is claimed?  The main job.

Searches run in processes of their own; what they find is merged in a fixed order,
so that the result is the same however many there are.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from attrs import frozen

from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.invariants.violation import Cause, Step
from swapmodel.outcomes import OutOfScope
from swapmodel.report.explain import explain
from swapmodel.report.json import render_json
from swapmodel.report.junit import render_junit
from swapmodel.report.markdown import pictures_of, render_markdown
from swapmodel.report.script import script
from swapmodel.report.verdicts import Row, reached, render_verdicts, rows, stem
from swapmodel.run import Counterexample, find_cause, run
from swapmodel.search.explore import Exploration
from swapmodel.search.scope import Scope
from swapmodel.search.shared import explore_all
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.claims import KnownCause, known_causes
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.goals import goals, missed
from swapmodel.specfiles.scenario import load_scenario
from swapmodel.specfiles.schema import BadInput
from swapmodel.specfiles.scopes import load_scope, scope_specs
from swapmodel.specfiles.write import scenario_text, write_text

Told: TypeAlias = Callable[[str, tuple[Exploration, ...]], None]
"""Called when the searches of a scope have ended."""


@frozen(kw_only=True)
class Job:
    """The searches of one scope, for the specs that it is searched under."""

    scope: Scope
    specs: tuple[Spec, ...]
    limit_seconds: float | None = None


@frozen(kw_only=True)
class Checked:
    """Everything that a check found."""

    specs: tuple[Spec, ...]
    explorations: tuple[Exploration, ...]
    """By scope, then by spec."""

    known: tuple[KnownCause, ...]

    unshown: tuple[str, ...] = ()
    """Claims whose scenario does not show their cause, with the spec."""

    miscounted: tuple[str, ...] = ()
    """Scopes that have other numbers of heaps than are pinned, with the spec."""

    missed: tuple[str, ...] = ()
    """What a scope is claimed to reach and does not."""

    def of(self, spec: Spec) -> tuple[Exploration, ...]:
        """The searches under one spec."""
        return tuple(one for one in self.explorations if one.spec == spec.id)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The verdicts, spec by spec."""
        columns = reached(self.explorations)
        return tuple(
            row
            for spec in self.specs
            for row in rows(spec, self.of(spec), self.known, columns)
        )

    @property
    def counterexamples(self) -> tuple[Counterexample, ...]:
        """The shortest for each spec and cause, in the order of the verdicts."""
        found: dict[tuple[str, object], Counterexample] = {}
        for exploration in self.explorations:
            for one in exploration.counterexamples:
                known = found.setdefault((one.spec, one.cause), one)
                if len(one.program) < len(known.program):
                    found[one.spec, one.cause] = one
        return tuple(found.values())

    @property
    def exit_code(self) -> int:
        """0 as claimed, 2 refuted, 3 undecided."""
        judged = self.rows
        if (
            self.unshown
            or self.miscounted
            or self.missed
            or any(not row.as_claimed and row.verdict != "undecided" for row in judged)
        ):
            return 2
        undecided = any(row.verdict == "undecided" for row in judged)
        unfinished = any(not one.complete for one in self.explorations)
        return 3 if undecided or unfinished else 0


def jobs(
    specs: Sequence[Spec], scopes: Iterable[str], limit_seconds: float | None = None
) -> tuple[Job, ...]:
    """
    The searches to run, scope by scope in the order given.

    A proposal is searched wherever the release that it extends is.
    """
    found: list[Job] = []
    for name in scopes:
        under = scope_specs(name)
        wanted = tuple(one for one in specs if {one.id, one.base} & {*under})
        if wanted:
            scope = load_scope(name)
            if scope.id in (one.scope.id for one in found):
                what = f"{name!r} is another scope called {scope.id}"
                raise BadInput(what, "command line", "name one of the two")
            found.append(Job(scope=scope, specs=wanted, limit_seconds=limit_seconds))
    return tuple(found)


def search(job: Job) -> tuple[Exploration, ...]:
    """Run the searches of one job."""
    return explore_all(job.scope, job.specs, limit_seconds=job.limit_seconds)


def check(
    specs: Sequence[Spec],
    todo: Sequence[Job],
    *,
    known: Sequence[KnownCause] | None = None,
    processes: int = 2,
    told: Told | None = None,
) -> Checked:
    """
    Search every job and judge what was found by the claims, or by those *known*.

    Ctrl-C ends the searches that run and leaves out those that do not yet; what was
    found until then is kept, and the rest is undecided.
    """
    found: dict[str, tuple[Exploration, ...]] = {}
    with suppress(KeyboardInterrupt):
        for job, explorations in _searched(todo, processes):
            found[job.scope.id] = explorations
            if told is not None:
                told(job.scope.id, explorations)
    known = known_causes() if known is None else known
    every = tuple(
        one for job in todo for one in _complete(job, found.get(job.scope.id, ()))
    )
    return Checked(
        specs=tuple(specs),
        explorations=every,
        known=tuple(known),
        unshown=tuple(_unshown(known, specs)),
        miscounted=tuple(
            line
            for job in todo
            for line in _miscounted(job.scope, found.get(job.scope.id, ()))
        ),
        missed=tuple(missed(goals(), every)),
    )


def _miscounted(scope: Scope, explorations: Iterable[Exploration]) -> Iterator[str]:
    """Yield the searches that ended with another number of heaps than is pinned."""
    pinned = dict(scope.pinned)
    for one in explorations:
        count = pinned.get(one.spec, one.heaps)
        if one.complete and count != one.heaps:
            yield f"{one.spec}: {scope.id} has {one.heaps} heaps, {count} are pinned"


def _unshown(known: Iterable[KnownCause], specs: Sequence[Spec]) -> Iterator[str]:
    """Yield the witnesses that do not show what they are listed for."""
    for one in known:
        path = specs_folder() / "scenarios" / one.scenario
        for spec in specs:
            listed = one.scenario and spec.id in one.specs
            if listed and one.cause not in _shown(path, spec):
                yield f"{spec.id}: {one.scenario} does not show {one.cause}"


def _shown(path: Path, spec: Spec) -> set[Cause]:
    """The causes that the last action of a scenario shows."""
    scenario = load_scenario(path)
    trace = run(scenario.start, scenario.program, spec)
    last = trace.outcomes[-1]
    if len(trace.outcomes) != len(scenario.program) or isinstance(last, OutOfScope):
        return set()
    before = trace.heaps[len(scenario.program) - 1]
    step = Step(before, scenario.program[-1], last, spec)
    return {
        find_cause(step, violation, invariant)
        for invariant in INVARIANTS
        for violation in invariant.check(step)
    }


def _complete(job: Job, explorations: tuple[Exploration, ...]) -> Iterator[Exploration]:
    """The searches of a job, and an empty one for each that did not run."""
    done = {one.spec: one for one in explorations}
    for spec in job.specs:
        yield done.get(spec.id) or Exploration(
            spec=spec.id,
            scope=job.scope.id,
            counterexamples=(),
            heaps=0,
            transitions=0,
            depth=0,
            rules=(),
            paths=(),
            stopped="interrupt",
        )


def _searched(
    todo: Sequence[Job], processes: int
) -> Iterator[tuple[Job, tuple[Exploration, ...]]]:
    if processes <= 1:
        for job in todo:
            explorations = search(job)
            yield job, explorations
            if any(one.stopped == "interrupt" for one in explorations):
                return
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        running = [(job, pool.submit(_in_process, job)) for job in todo]
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for job, future in running:
            explorations = _result(pool, future)
            yield job, explorations


def _in_process(job: Job) -> tuple[Exploration, ...]:
    """
    Run the searches of one job in a process of the pool.

    Such a process starts with Ctrl-C blocked, and listens to it while it searches:
    an idle one has nothing to keep, and would only tell where it waited.
    """
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return search(job)
    except KeyboardInterrupt:
        return ()
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _result(
    pool: ProcessPoolExecutor, future: Future[tuple[Exploration, ...]]
) -> tuple[Exploration, ...]:
    """Wait for a search; on Ctrl-C, which it gets too, for what it has found."""
    while True:
        try:
            return future.result()
        except CancelledError:
            return ()
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)


def write_reports(checked: Checked, folder: Path) -> None:
    """
    Write the verdicts and, for each counterexample, report, scenario and script.

    Each file is written whole or not at all.
    """
    specs = {spec.id: spec for spec in checked.specs}
    for one in checked.counterexamples:
        spec, name = specs[one.spec], stem(one.cause, one.spec)
        scenario = folder / f"scenarios/{name}.toml"
        write_text(scenario, scenario_text(one, spec, [one.spec]))
        told = explain(one, spec, f"swapmodel run {scenario} --spec {spec.id}")
        markdown = render_markdown(told, pictures_of(one, spec))
        write_text(folder / f"counterexamples/{name}.md", markdown)
        write_text(folder / f"counterexamples/{name}.json", render_json(told))
        write_text(folder / f"scripts/{name}.py", script(one, spec))
    judged = checked.rows
    write_text(folder / "verdicts.json", render_verdicts(judged))
    write_text(folder / "junit.xml", render_junit(judged))
