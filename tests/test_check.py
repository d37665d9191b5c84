"""The check: searches in any number of processes, judged by the claims."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve

from swapmodel.check import Checked, Job, _complete, check, jobs, search, write_reports
from swapmodel.search.explore import Exploration
from swapmodel.specfiles.claims import KnownCause, known_causes
from swapmodel.specfiles.scopes import scope_ids
from tests.heaps import LATE, NEW, NO_SWAP, spec
from tests.scopes import endless, tiny

SPECS = (spec(NO_SWAP), spec(LATE), spec(NEW))
ROOT = Path(__file__).parent.parent


@pytest.fixture
def todo(tmp_path: Path) -> tuple[Job, ...]:
    """The searches of the tiny scope."""
    return jobs(SPECS, [tiny(tmp_path)])


# -- Jobs ------------------------------------------------------------------------------


def test_a_job_for_each_scope() -> None:
    """Every scope is searched for the specs that it lists, in the order given."""
    todo = jobs(SPECS, scope_ids())

    assert [job.scope.id for job in todo] == list(scope_ids())
    assert {one for job in todo for one in job.specs} == set(SPECS)


def test_a_scope_that_lists_none_of_the_specs() -> None:
    """A scope that is not about any spec asked for is left out."""
    listed = {job.scope.id for job in jobs([spec(NO_SWAP)], scope_ids())}

    assert listed < set(scope_ids())


def test_a_proposal_is_searched_with_its_release(tmp_path: Path) -> None:
    """A proposal is searched wherever the release that it extends is."""
    proposal = evolve(spec(NEW), id="mine", base=NEW)
    (job,) = jobs([proposal], [tiny(tmp_path)], 7.5)

    assert (job.specs, job.limit_seconds) == ((proposal,), 7.5)


# -- Checking --------------------------------------------------------------------------


def test_what_a_search_finds_is_merged(todo: tuple[Job, ...]) -> None:
    """Every search is there, by scope and spec, and is told as it ends."""
    told: list[tuple[str, tuple[Exploration, ...]]] = []
    checked = check(
        SPECS, todo, processes=1, told=lambda scope, found: told.append((scope, found))
    )

    assert [(one.scope, one.spec) for one in checked.explorations] == [
        ("tiny", one.id) for one in SPECS
    ]
    assert told == [("tiny", checked.explorations)]
    assert all(one.complete for one in checked.explorations)
    assert checked.of(SPECS[0]) == checked.explorations[:1]
    assert checked.known == known_causes()


def test_one_counterexample_for_each_cause(todo: tuple[Job, ...]) -> None:
    """Of several searches that show a cause, the shortest program is kept."""
    (first, *rest) = search(todo[0])
    longer = tuple(
        evolve(one, program=(one.program[0], *one.program))
        for one in first.counterexamples
    )
    other = evolve(first, scope="longer", counterexamples=longer)
    known = known_causes()
    one_way = Checked(specs=SPECS, explorations=(first, other, *rest), known=known)
    other_way = Checked(specs=SPECS, explorations=(other, first, *rest), known=known)

    assert first.counterexamples
    assert one_way.counterexamples == other_way.counterexamples
    assert one_way.counterexamples[: len(longer)] == first.counterexamples


def exit_code(
    explorations: tuple[Exploration, ...],
    known: tuple[KnownCause, ...],
    unshown: tuple[str, ...] = (),
) -> int:
    """What a check of torch 2.1 exits with."""
    return Checked(
        specs=SPECS[:1], explorations=explorations, known=known, unshown=unshown
    ).exit_code


def test_exit_codes(todo: tuple[Job, ...]) -> None:
    """As claimed, refuted by what is found, gone or unshown, undecided when stopped."""
    found = search(todo[0])[:1]
    known = tuple(
        KnownCause(cause=one.cause, specs=(NO_SWAP,), scope="tiny", scenario="x.toml")
        for one in found[0].counterexamples
    )
    elsewhere = tuple(evolve(one, scope="other") for one in known)
    silent = (evolve(found[0], counterexamples=()),)
    stopped = (evolve(found[0], stopped="limit"),)
    neither = (evolve(silent[0], stopped="limit"),)

    assert known
    assert exit_code(found, known) == 0
    assert exit_code(found, ()) == 2
    assert exit_code(found, known, ("a claim",)) == 2
    assert exit_code(silent, known) == 2
    assert exit_code(silent, elsewhere) == 0
    assert exit_code(stopped, known) == 3
    assert exit_code(stopped, ()) == 2
    assert exit_code(neither, known) == 3


def test_a_scope_with_another_number_of_heaps_than_is_pinned(
    todo: tuple[Job, ...],
) -> None:
    """A difference is told with both numbers; an unfinished search has none."""
    job = evolve(todo[0], specs=(spec(NEW),))
    (heaps,) = (one.heaps for one in search(job))
    pinned = evolve(job, scope=evolve(job.scope, pinned=((NEW, heaps + 1),)))
    stopped = evolve(pinned, limit_seconds=0.0)
    right = evolve(job, scope=evolve(job.scope, pinned=((NEW, heaps),)))

    checked = check((spec(NEW),), (pinned,), processes=1)

    told = f"{NEW}: {job.scope.id} has {heaps} heaps, {heaps + 1} are pinned"
    assert checked.miscounted == (told,)
    assert checked.exit_code == 2
    assert check((spec(NEW),), (stopped,), processes=1).miscounted == ()
    assert check((spec(NEW),), (right,), processes=1).miscounted == ()


def test_every_claim_is_shown_by_its_scenario() -> None:
    """The scenario of each claim shows the cause that it is listed for."""
    specs = {name: spec(name) for one in known_causes() for name in one.specs}

    assert check(tuple(specs.values()), (), processes=1).unshown == ()


def test_a_claim_that_its_scenario_does_not_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A witness that shows something else is named with the spec and the file."""
    harmless = "convert/inner-tensors-converted.toml"
    wrong = evolve(known_causes()[0], scenario=harmless, specs=(NEW,))
    monkeypatch.setattr("swapmodel.check.known_causes", lambda: (wrong,))
    (line,) = check((spec(NEW),), (), processes=1).unshown

    assert line.startswith(f"{NEW}: {harmless} does not show ")


def test_a_search_that_never_ran(tmp_path: Path) -> None:
    """After Ctrl-C, what did not run is there as undecided."""
    todo = jobs(SPECS, [tiny(tmp_path)])
    (one,) = todo
    checked = check(SPECS, todo, processes=1)
    missing = list(_complete(one, checked.explorations[:1]))
    assert [found.stopped for found in missing] == [None, "interrupt", "interrupt"]
    assert [found.spec for found in missing] == [one.id for one in SPECS]


# -- Reports ---------------------------------------------------------------------------


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with what is in it."""
    found = sorted(one for one in folder.rglob("*") if one.is_file())
    return {str(one.relative_to(folder)): one.read_bytes() for one in found}


def test_reports(tmp_path: Path, todo: tuple[Job, ...]) -> None:
    """Each counterexample has a report, its data, a scenario and a script."""
    checked = check(SPECS, todo, processes=1)
    write_reports(checked, tmp_path / "out")
    names = files(tmp_path / "out")

    assert {"verdicts.json", "junit.xml"} < set(names)
    for row in checked.rows:
        if row.verdict == "violated":
            assert row.report in names
            assert row.script in names
    assert len(names) == 2 + 4 * len(checked.counterexamples)


def checked_in(folder: Path, scope: str, seed: str, processes: int) -> dict[str, bytes]:
    """The reports of a check in a process of its own."""
    out = folder / f"out-{seed}-{processes}"
    command = [sys.executable, "-m", "swapmodel", "check", NO_SWAP, LATE, NEW]
    command += ["--scope", scope, "--out", "out", "--processes", str(processes)]
    out.mkdir()
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=out, env=environment, capture_output=True, timeout=120
    )
    assert done.returncode in (0, 2, 3), done.stderr.decode()
    return files(out / "out")


def test_reports_are_the_same_every_time(tmp_path: Path) -> None:
    """Neither the hash seed nor the number of processes changes a byte."""
    scope = tiny(tmp_path)
    first = checked_in(tmp_path, scope, "1", 1)

    assert len(first) > 2
    assert first == checked_in(tmp_path, scope, "2", 2)


def test_a_report_is_written_whole_or_not_at_all(
    tmp_path: Path, todo: tuple[Job, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that dies while it writes leaves each file old or new, and no rest."""
    checked, out = check(SPECS, todo, processes=1), tmp_path / "out"
    write_reports(checked, out)
    before = files(out)
    calls: list[object] = []

    def dying(source: object, target: object) -> None:
        calls.append(target)
        raise KeyboardInterrupt

    monkeypatch.setattr("swapmodel.specfiles.write.os.replace", dying)
    with pytest.raises(KeyboardInterrupt):
        write_reports(evolve(checked, explorations=checked.explorations[:1]), out)

    assert len(calls) == 1
    assert files(out) == before


def test_a_limit(tmp_path: Path) -> None:
    """A search that is out of time keeps what it found and says so."""
    todo = jobs([spec(NEW)], [endless(tmp_path)], 0.2)
    checked = check([spec(NEW)], todo, processes=1)

    assert [one.stopped for one in checked.explorations] == ["limit"]
    assert checked.explorations[0].heaps > 1
    assert {row.verdict for row in checked.rows} <= {"undecided", "violated", "absent"}
