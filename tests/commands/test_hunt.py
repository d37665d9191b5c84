"""`swapmodel hunt`, from the command line."""

from pathlib import Path

import pytest

from swapmodel.search.hunt import EFFORTS, Effort
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.read import load_spec
from swapmodel.specfiles.scenario import load_scenario, mismatches
from tests.commands.test_lookup import run

BROKEN = """\
id = "broken"
statement = "As 2.13; a swap exchanges the values of slots and not the impls."
extends = "torch-2.13"

[operations]
swap_tensors = ["no-weakrefs", "same-slots", "few-owners", "move-slots"]
"""


def test_what_is_new_is_told_and_kept(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A planted fault: its explanation, a scenario that holds, and a script."""
    monkeypatch.setitem(EFFORTS, "ci", Effort(200, 4))
    spec = tmp_path / "broken.toml"
    spec.write_text(BROKEN, encoding="utf-8")
    out, kept = tmp_path / "out", tmp_path / "kept"
    asked = ("hunt", str(spec), "--profile", "ci", "--most", "1")

    code, told, _ = run(capsys, *asked, "--out", str(out), "--save", str(kept))

    assert code == 2
    assert "\nBut " in told
    assert "\n1 causes under broken that no claim lists" in told
    (scenario,) = kept.glob("*.toml")
    assert (out / scenario.name).read_text() == scenario.read_text()
    assert (out / f"{scenario.stem}.py").is_file()


def test_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    """One line, and exit code 4."""
    for args in (("gone",), ("--profile", "long"), ("--most", "0")):
        code, out, err = run(capsys, "hunt", *args)

        assert (code, out) == (4, "")
        assert err.count("\n") == 1


def test_saved_scenarios_come_out_as_they_say() -> None:
    """What the tool writes under `found` holds under the specs that it names."""
    for path in sorted((specs_folder() / "scenarios" / "found").glob("hooks*.toml")):
        read = load_scenario(path)
        for name in read.specs:
            assert [*mismatches(read, load_spec(name))] == []
