"""The parts of the lockstep, in small."""

import json
from collections import Counter
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from swapmodel.conformance import conform, programs, starts  # noqa: E402
from swapmodel.conformance.conform import PARTS, Part, Summary  # noqa: E402
from swapmodel.conformance.programs import Tally  # noqa: E402
from swapmodel.search.enabled import enabled  # noqa: E402
from swapmodel.specfiles.schema import BadInput  # noqa: E402
from tests.heaps import LATE, NEW, spec  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:The .grad attribute"),
]


def test_every_start_has_a_few_dozen_actions() -> None:
    """So that all programs of depth three can be run."""
    counts = [
        len(list(enabled(heap, scope.actions)))
        for scope in starts.exhaustive_scopes(3)
        for _, heap in scope.starts
    ]

    assert len(counts) == 12
    assert all(20 <= count <= 40 for count in counts)


def test_a_walk_runs_every_program_that_begins_so() -> None:
    """The programs of depth two behind one action, without a divergence."""
    scope = starts.exhaustive_scopes(2)[0]
    first = programs.first_actions(scope, 0)[0]
    tally = programs.walk(scope, 0, first, spec(NEW))

    assert tally.diverging == 0
    assert tally.programs > 20
    assert tally.actions == 2 * tally.programs - 1


def test_a_walk_under_the_wrong_spec_keeps_what_differs() -> None:
    """The first divergences are kept with their start, in short."""
    scope = starts.exhaustive_scopes(2)[0]
    tally = Tally()
    for first in programs.first_actions(scope, 0):
        tally.add(programs.walk(scope, 0, first, spec(LATE)))

    assert tally.diverging > 5
    assert {start for start, _ in tally.kept} == {"bare"}
    assert all(len(found.program) <= 2 for _, found in tally.kept)


def test_a_part_that_declines_too_much_is_not_as_claimed() -> None:
    """The model may decline to say what less than two of a hundred programs do."""
    few, many = (Tally(programs=100, unmodelled=Counter(why=n)) for n in (1, 2))
    parts = [Part(id="random", spec=NEW, seconds=0, tally=one) for one in (few, many)]

    assert [one.as_claimed for one in parts] == [True, False]
    assert parts[1].data()["unmodelled_share"] == 0.02


def test_parts_are_run_and_summed_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part is told as it ends, and the summary says what came of it."""
    monkeypatch.setattr(conform, "RANDOM_PROGRAMS", 20)
    monkeypatch.setattr(conform, "RANDOM_JOB", 10)
    monkeypatch.setattr(conform, "UNMODELLED", 0.2)
    told: list[Part] = []
    out = tmp_path / "deep" / "summary.json"
    found = conform.conform(["random"], progress=told.append, out=out)
    read = json.loads(out.read_text(encoding="utf-8"))

    assert found.as_claimed
    assert tuple(told) == found.parts
    assert read["torch"] == torch.__version__.partition("+")[0]
    (part,) = read["parts"]
    assert (part["id"], part["programs"], part["divergences"]) == ("random", 20, 0)
    assert {"actions", "seconds", "unmodelled"} <= part.keys()


def test_a_control_must_diverge() -> None:
    """A wrong spec that does not diverge is not as claimed."""
    blind = Part(id="negative control", spec=LATE, seconds=0, tally=Tally())
    seeing = Part(id="negative control", spec=LATE, seconds=0, tally=Tally(diverging=1))
    wrong = Part(id="random", spec=NEW, seconds=0, tally=Tally(diverging=1))

    assert [one.as_claimed for one in (blind, seeing, wrong)] == [False, True, False]
    assert not Summary("2.13.0", (seeing, wrong)).as_claimed


def test_an_interrupted_run_tells_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parts before the interruption are in the summary, which is not complete."""
    monkeypatch.setattr(conform, "RANDOM_PROGRAMS", 4)
    out = tmp_path / "summary.json"

    def interrupt(part: Part) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conform.conform(["random", "negative control"], progress=interrupt, out=out)
    read = json.loads(out.read_text(encoding="utf-8"))

    assert [part["id"] for part in read["parts"]] == ["random"]
    assert (read["complete"], read["as_claimed"]) == (False, False)


def test_an_unknown_part_is_bad_input() -> None:
    """The nearest part is named."""
    with pytest.raises(BadInput, match="exhaustive-3"):
        conform.conform(["exhaustive"])


def test_the_parts() -> None:
    """All programs of a length, each area, random programs, and the wrong specs."""
    areas = [one for one in PARTS if one.startswith(conform.AREA)]

    assert ("exhaustive-3", "swap-4", *areas, "random", "negative control") == PARTS
    assert areas
