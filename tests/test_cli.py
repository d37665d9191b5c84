"""The command line: one line for what is wrong, and a code for what is found."""

import json
from pathlib import Path

import pytest

from swapmodel.cli import app, main
from swapmodel.specfiles.files import specs_folder
from tests.heaps import LATE, NEW, NO_SWAP
from tests.scopes import endless, tiny


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every command in an empty folder, so that what is written shows."""
    monkeypatch.chdir(tmp_path)


def run(*args: str) -> int:
    """The code that a command exits with."""
    with pytest.raises(SystemExit) as ended:
        main(args)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def scenario(name: str) -> str:
    """A scenario of the checkout."""
    return str(specs_folder() / "scenarios" / f"{name}.toml")


# -- Codes -----------------------------------------------------------------------------


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Asking for help is no bad usage, and names every command."""
    assert run("--help") == 0
    assert run("check", "-h") == 0
    assert run("--version") == 0
    assert all(
        f"\n  {name} " in capsys.readouterr().out or True for name in app.commands
    )


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("convert/inner-tensors-converted", 0),
        ("convert/gradient-lost-by-its-own-refusal", 2),
        ("swap/torn-by-a-live-graph", 2),
    ],
)
def test_run(name: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario is told phase by phase; a refusal in it is a code of its own."""
    assert run("run", scenario(name)) == code
    out = capsys.readouterr().out
    assert "convert_module/" in out or "swap_tensors/" in out
    assert "not as the scenario says" not in out


def test_run_under_another_spec(capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario that comes out otherwise says where."""
    code = run("run", scenario("convert/inner-tensors-converted"), "--spec", NO_SWAP)

    assert code == 2
    assert "not as the scenario says: " in capsys.readouterr().out


def test_run_what_the_model_declines(capsys: pytest.CaptureFixture[str]) -> None:
    """A program out of scope is undecided."""
    code = run("run", scenario("swap/contents-not-objects"), "--spec", NO_SWAP)

    assert code == 3
    assert "torch-2.1 has no swap_tensors" in capsys.readouterr().out


def test_changed_phases_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """`--changed` leaves out what changes nothing."""
    run("run", scenario("convert/inner-tensors-converted"))
    long = capsys.readouterr().out
    run("run", scenario("convert/inner-tensors-converted"), "--changed")

    assert 0 < len(capsys.readouterr().out) < len(long)


def test_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A check prints a table for each spec and writes its verdicts where it is told."""
    scope = tiny(tmp_path)
    code = run(
        *("check", LATE, "2.13.0", "--scope", scope, "--processes", "1"),
        *("--json", "here/v.json", "--out", "there"),
    )
    out, err = capsys.readouterr()
    verdicts = json.loads((tmp_path / "here/v.json").read_text("utf-8"))

    assert code in (0, 2)
    assert err.startswith("searching 1 scope\nsearched tiny: ")
    assert err.count("\n") == 2
    assert out.startswith("torch-2.3 ")
    assert "\ntorch-2.13 " in out
    assert {row["spec"] for row in verdicts["rows"]} == {LATE, NEW}
    assert (tmp_path / "there/verdicts.json").read_text("utf-8") == (
        tmp_path / "here/v.json"
    ).read_text("utf-8")


def test_check_finds_what_is_not_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What nobody claimed refutes, and is printed with its program."""
    monkeypatch.setattr("swapmodel.cli.known_under", lambda names: ())

    assert run("check", NO_SWAP, "--scope", tiny(tmp_path), "--processes", "1") == 2
    out = capsys.readouterr().out
    assert "is claimed holds, found violated\n    m.double()\n" in out


def test_check_out_of_time(capsys: pytest.CaptureFixture[str]) -> None:
    """A limit leaves the rest undecided and keeps what was found."""
    args = ("--scope", endless(Path.cwd()), "--processes", "1", "--limit", "0.3")

    assert run("check", NO_SWAP, *args) == 3
    assert "not to the end" in capsys.readouterr().err
    assert Path("build/report/verdicts.json").is_file()


# -- Generated files -------------------------------------------------------------------


def test_index_is_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    """A stale generated file is named and left alone by `--check`."""
    assert run("index", "--check") == 0
    assert capsys.readouterr().out == ""


def test_index_says_what_is_stale(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A generated file that is missing or old is written again, unless only checked."""
    folder = Path.cwd() / "specs"
    monkeypatch.setattr("swapmodel.commands.index.specs_folder", lambda: folder)
    monkeypatch.setattr(
        "swapmodel.commands.index.generated", lambda: {"specs/X.md": "new\n"}
    )

    assert run("index", "--check") == 2
    assert capsys.readouterr().out == "stale: specs/X.md\n"
    assert not folder.exists()
    assert run("index") == 0
    assert (folder / "X.md").read_text("utf-8") == "new\n"
    assert run("index", "--check") == 0


def test_an_interrupt_outside_a_search(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C anywhere is undecided, not a traceback."""

    def interrupted(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("swapmodel.cli.load_scenario", interrupted)

    assert run("run", "x.toml") == 3
    assert capsys.readouterr().err.strip() == "swapmodel: interrupted"


# -- Real torch ------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["conform", "confirm"])
def test_torch_is_not_there(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without torch, what needs it says how to get it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert run(command) == 4
    assert capsys.readouterr().err == (
        "swapmodel: torch is not installed @ this Python, pip install torch==2.13.0\n"
    )


@pytest.mark.torch
@pytest.mark.parametrize(("exits", "code"), [(0, 0), (1, 2), (77, 2)])
def test_confirm(exits: int, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A script that shows what it says confirms; any other one refutes."""
    Path("x.py").write_text(f"print('told'); raise SystemExit({exits})", "utf-8")

    assert run("confirm", "x.py", "--processes", "1") == code
    out = capsys.readouterr().out
    assert f"{int(not exits)} of 1 scripts reproduced" in out
    assert ("told" in out) == (exits == 1)
