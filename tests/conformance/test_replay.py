"""Recordings are compared with the model, without torch."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from attrs import evolve

from swapmodel.actions import (
    CastData,
    Forward,
    Program,
    SetData,
    SwapTensors,
    View,
)
from swapmodel.conformance.observation import FIELDS, Result
from swapmodel.conformance.recording import (
    Recording,
    Taken,
    Walk,
    read_recording,
)
from swapmodel.conformance.replay import Replayed, replay
from swapmodel.specfiles.provenance import recordings
from swapmodel.specfiles.read import load_spec, release_ids
from tests.conformance.made import filled, recording_of, walk_of
from tests.heaps import LATE, NEW, NO_SWAP, module, spec

SHARE = 8
"""Of how many walks one is compared here; `swapmodel replay` takes all of them."""

PROGRAM = (View("p", "v"), SwapTensors("p", "t"), CastData("t", "float64"))

read = cache(read_recording)


def seen(result: object) -> Result:
    """What was seen, where something was."""
    assert isinstance(result, Result)
    return result


def promised(looked: bool = True) -> Recording:
    """A recording of one program, exactly as the model says."""
    walk = filled(walk_of(PROGRAM, looked=looked), module(), spec(NEW))
    return recording_of(module(), [walk])


# -- Real releases -------------------------------------------------------------------


@pytest.mark.parametrize("path", recordings(), ids=lambda path: path.name)
def test_the_model_does_what_was_recorded(path: Path) -> None:
    """Without a divergence, under the spec that the release's number finds."""
    recording = read(path)
    found = replay(recording, load_spec(recording.provenance.torch), share=SHARE)

    assert found.kept == []
    assert found.as_recorded
    assert found.programs > 500


@pytest.mark.parametrize("path", recordings(), ids=lambda path: path.name)
def test_the_wrong_spec_diverges(path: Path) -> None:
    """Every spec that orders or checks a swap otherwise does something else."""
    recording = read(path)
    own = load_spec(recording.provenance.torch)
    swaps = dict(own.operations).get("swap_tensors")
    others = [load_spec(one) for one in release_ids()]
    wrong = [o for o in others if dict(o.operations).get("swap_tensors") != swaps]

    assert {NO_SWAP, LATE, NEW} & {one.id for one in wrong}
    for one in wrong:
        assert not replay(recording, one, share=4 * SHARE).as_recorded


def test_torch_is_not_needed() -> None:
    """Reading and replaying imports no torch."""
    code = """
import sys
sys.modules["torch"] = None
from swapmodel.conformance.recording import read_recording
from swapmodel.conformance.replay import replay
from swapmodel.specfiles.provenance import recordings
from swapmodel.specfiles.read import load_spec
from swapmodel.cli import main
assert replay(read_recording(recordings()[-1]), load_spec("2.13"), share=500).programs
main(["replay", "--help"])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (ran.returncode, ran.stderr) == (0, "")


# -- What differs --------------------------------------------------------------------


@pytest.mark.parametrize("looked", [True, False])
def test_what_the_model_says_is_as_recorded(looked: bool) -> None:
    """Every action is one program; the model's own words do not diverge."""
    found = replay(promised(looked), spec(NEW))

    assert found == Replayed(programs=3)
    assert found.as_recorded


@pytest.mark.parametrize("number", [0, 1, 2])
def test_any_other_result_diverges(number: int) -> None:
    """A flag that torch showed otherwise is named, with both values."""
    (walk,) = promised().walks
    taken = list(walk.taken)
    result = seen(taken[number].seen)
    then = evolve(result.then, flags=(("overwrite", True), ("swap", False)))
    taken[number] = evolve(taken[number], seen=evolve(result, then=then))
    recording = recording_of(module(), [evolve(walk, taken=tuple(taken))])
    found = replay(recording, spec(NEW))
    (one,) = found.kept

    assert not found.as_recorded
    assert (found.diverging, found.programs) == (1, number + 1)
    assert one.program == PROGRAM[: number + 1]
    assert one.start == "here"
    assert [*one.differing] == ["flags"]


def test_behind_a_divergence_only_other_programs_are_compared() -> None:
    """The branch that diverges is left; the next one begins anew."""
    start = module()
    scale, view = Forward("scale", "p", "y"), View("p", "v")
    branches = [Taken(1, scale, "?"), Taken(2, view, "?"), Taken(1, view, "?")]
    walk = filled(Walk("exhaustive", "here", False, tuple(branches)), start, spec(NEW))
    wrong = evolve(walk.taken[0], seen="died")
    recording = recording_of(start, [evolve(walk, taken=(wrong, *walk.taken[1:]))])
    found = replay(recording, spec(NEW))

    assert (found.programs, found.diverging) == (2, 1)
    assert found.kept[0].differing == {"end": ("done", "died")}


NULL = (SetData("t", "p"), Forward("scale", "t", "y"))
"""Reads a storage that is not there, in a world of wrappers."""


@pytest.mark.parametrize(
    ("program", "end", "differing"),
    [
        (NULL, "died", None),
        (NULL, "not allocated", None),
        (NULL, "went on", {"end": ("undefined", "went on")}),
        (PROGRAM, "died", {"end": ("done", "died")}),
        (PROGRAM[:2], "raised", {"end": ("refused", "raised")}),
    ],
)
def test_ends_are_compared(
    program: Program, end: str, differing: dict[str, object] | None
) -> None:
    """What the model calls undefined has to misbehave, and nothing else may."""
    *before, last = walk_of(program, None).taken
    walk = Walk("random", "here", False, (*before, evolve(last, seen=end)))
    found = replay(recording_of(module("TwoTensor"), [walk]), spec(NEW))

    assert [one.differing for one in found.kept] == ([differing] if differing else [])
    assert found.programs == 1


def test_what_goes_on_in_torch_is_not_undefined() -> None:
    """A result where the model sees a crash differs."""
    walk = filled(walk_of(PROGRAM[:1]), module("TwoTensor"), spec(NEW))
    shown = walk.taken[0].seen
    *before, last = walk_of(NULL, None).taken
    wrong = Walk("random", "here", False, (*before, evolve(last, seen=shown)))
    found = replay(recording_of(module("TwoTensor"), [wrong]), spec(NEW))

    assert found.kept[0].differing == {"end": ("undefined", "done")}


def test_what_the_model_declines_is_counted() -> None:
    """It is no divergence; but too much of it is not as recorded."""
    swap = filled(walk_of((SwapTensors("p", "t"),)), module(), spec(NEW))
    done = filled(walk_of((View("p", "v"),)), module(), spec(NO_SWAP))
    few = replay(recording_of(module(), [swap, *[done] * 99]), spec(NO_SWAP))
    many = replay(recording_of(module(), [swap, *[done] * 9]), spec(NO_SWAP))

    assert dict(few.declined) == {"torch-2.1 has no swap_tensors": 1}
    assert (few.diverging, few.programs, few.as_recorded) == (0, 100, True)
    assert (many.diverging, many.programs, many.as_recorded) == (0, 10, False)


def test_what_a_release_cannot_show_is_left_out() -> None:
    """A column that was not seen is not asked for; another one is."""
    (walk,) = promised().walks
    column = FIELDS.index("_use_count()")
    taken = []
    for one in walk.taken:
        then = seen(one.seen).then
        rows = [
            (place, row if len(row) == 1 else (*row[:column], None, *row[column + 1 :]))
            for place, row in then.places
        ]
        shown = evolve(seen(one.seen), then=evolve(then, places=tuple(rows)))
        taken.append(evolve(one, seen=shown))
    walks = [evolve(walk, taken=tuple(taken))]
    blind = recording_of(module(), walks, unseen=("_use_count()",))

    assert replay(blind, spec(NEW)) == Replayed(programs=3)
    assert replay(recording_of(module(), walks), spec(NEW)).diverging == 1


def test_a_share_of_the_walks() -> None:
    """Every n-th of them, always the same."""
    (walk,) = promised().walks
    recording = recording_of(module(), [walk] * 7)

    assert replay(recording, spec(NEW), share=3) == Replayed(programs=9)
