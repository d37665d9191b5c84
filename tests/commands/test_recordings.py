"""`swapmodel record` and `swapmodel replay`, from the command line."""

import importlib.util
import json
from pathlib import Path

import pytest

from swapmodel.commands import recordings
from swapmodel.conformance.recording import write_recording
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.provenance import SUFFIX
from tests.commands.test_lookup import run
from tests.conformance.made import filled, recording_of, walk_of
from tests.conformance.test_replay import PROGRAM
from tests.heaps import NEW, module, spec


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A recording of one program."""
    path = tmp_path / f"mine{SUFFIX}"
    walk = filled(walk_of(PROGRAM), module(), spec(NEW))
    write_recording(path, recording_of(module(), [walk]))
    return path


def test_replay(capsys: pytest.CaptureFixture[str], made: Path) -> None:
    """A line for each recording, and exit code 0."""
    code, out, err = run(capsys, "replay", str(made))

    line = "mine under torch-2.13: 3 programs, 0 divergences, 0 declined\n"
    assert (code, out, err) == (0, line, "")


def test_what_differs_is_told(
    capsys: pytest.CaptureFixture[str], made: Path, tmp_path: Path
) -> None:
    """Program, what the model says and what torch showed, and exit code 2."""
    file = tmp_path / "told.json"
    asked = ("replay", str(made), "--spec", "2.3", "--json", str(file))
    code, out, _ = run(capsys, *asked)
    (told,) = json.loads(file.read_text(encoding="utf-8"))

    assert code == 2
    assert "mine under torch-2.3: 2 programs, 1 divergences, 0 declined\n" in out
    assert '\n    { do = "swap_tensors", t1 = "p", t2 = "t" }\n' in out
    assert "\n  errors: the model says " in out
    assert (told["spec"], told["programs"], told["divergences"]) == ("torch-2.3", 2, 1)
    assert [*told["examples"][0]["differing"]]
    assert told["examples"][0]["program"][0]["do"] == "view"


def test_a_recording_is_found_by_its_release(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By the number, and by the name of the file."""
    for name in ("2.13.0", "torch-2.13.0"):
        code, out, _ = run(capsys, "replay", name, "--share", "500")

        assert code == 0
        assert out.startswith("torch-2.13.0 under torch-2.13: ")


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (("replay", "2.13.9"), "no recording '2.13.9' @ command line, write torch-2"),
        (("replay", "2.13.0", "--spec", "gone"), "unknown spec 'gone'"),
        (
            ("replay", "pyproject.toml"),
            "nothing that can be decompressed",
        ),
        (("replay", "2.13.0", "2.13.0"), "is named twice"),
        (("record", "--programs", "0"), "is not in the range"),
    ],
)
def test_bad_input(
    args: tuple[str, ...], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and exit code 4."""
    code, out, err = run(capsys, *args)

    assert (code, out) == (4, "")
    assert what in err
    assert err.count("\n") == 1


def test_record_needs_torch(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so, and writes nothing."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    code, out, err = run(capsys, "record")

    assert (code, out) == (4, "")
    assert "torch is not installed @ this Python" in err


@pytest.mark.torch
def test_record(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The release that is here is written where recordings lie, and replayed."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("needs torch")
    monkeypatch.setattr(recordings, "specs_folder", lambda: tmp_path)

    code, out, err = run(capsys, "record", "--depth", "1", "--programs", "10")
    (path,) = (tmp_path / "recordings").iterdir()

    assert code == 0
    assert out.startswith(f"written: {path}\n{path.name.removesuffix(SUFFIX)} under ")
    assert " 0 divergences, 0 declined\n" in out
    assert " walks\n" in err
    assert path.name.startswith("torch-2.")
    assert specs_folder() != tmp_path
