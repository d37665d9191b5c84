"""Bad input on the command line: one line, code 4, and nothing written."""

import os
import stat
from pathlib import Path

import pytest

from swapmodel.cli import app, main
from swapmodel.specfiles.files import specs_folder
from tests.heaps import NEW

BAD = 4


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


@pytest.mark.parametrize(
    ("args", "what"),
    [
        ("", "Missing command"),
        ("--nonsense", "No such option '--nonsense'"),
        ("chekc", "No such command 'chekc'"),
        ("check --nonsense", "No such option '--nonsense'"),
        ("check --processes 0", "0 is not in the range"),
        ("check --processes many", "'many' is not a valid integer"),
        ("check --limit -1", "not in the range"),
        ("check --limit soon", "'soon' is not a valid float"),
        ("check --limit nan", "nan is no number of seconds"),
        ("check --limit inf", "inf is no number of seconds"),
        ("check 2.13 2.13", "'2.13' is named twice"),
        ("check 2.13 torch-2.13", "'torch-2.13' and '2.13' are both torch-2.13"),
        ("check --scope rnn --scope rnn", "'rnn' is named twice"),
        ("confirm --spec 2.13 --spec 2.14", "'2.14' and '2.13' are both torch-2.13"),
        ("conform random random", "'random' is named twice"),
        ("necessity --operation call_fn --operation call_fn", "is named twice"),
        ("witness swap/poison --scope rnn --scope rnn", "'rnn' is named twice"),
        ("check --set all", "'all' is not one of"),
        ("check --json .", "is a directory"),
        ("check --out", "requires an argument"),
        ("check torch-2.12345", "unknown spec 'torch-2.12345'"),
        ("check --scope skeletn", "unknown scope 'skeletn'"),
        ("check --scope gone.toml", "no such file @ gone.toml"),
        ("check gone.toml", "no such file @ gone.toml"),
        ("check .", "unknown spec '.'"),
        ("check ./", "a directory, not a file @ ."),
        ("run", "Missing argument 'SCENARIO'"),
        ("run gone.toml", "no such file @ gone.toml"),
        ("run .", "a directory, not a file @ ."),
        ("run one.toml two.toml", "unexpected extra argument (two.toml)"),
        ("claims --nonsense", "No such option '--nonsense'"),
        ("claims --processes 65", "65 is not in the range"),
        ("hunt --profile long", "'long' is not one of"),
        ("necessity --processes 0", "0 is not in the range"),
        ("record --nonsense", "No such option '--nonsense'"),
        ("replay --nonsense", "No such option '--nonsense'"),
        ("agree --nonsense", "No such option '--nonsense'"),
        ("index now", "unexpected extra argument (now)"),
        ("conform --processes -1", "-1 is not in the range"),
        ("confirm gone.py", "'gone.py' does not exist"),
        ("confirm --spec", "requires an argument"),
        ("show", "Choose from: rule, invariant, spec"),
        ("show rule nonsense", "unknown rule 'nonsense'"),
        ("show nonsense swap/poison", "'nonsense' is not one of"),
        ("witness", "Missing argument 'NAME'"),
        ("witness nonsense", "unknown rule or invariant 'nonsense'"),
    ],
)
def test_bad_usage(
    args: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bad usage is one line that says what is wrong, and nothing is written."""
    assert run(*args.split()) == BAD
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("swapmodel: ")
    assert what in err
    assert " @ " in err
    assert ", " in err.partition(" @ ")[2]
    assert list(tmp_path.iterdir()) == []


def test_every_command_is_tried_with_bad_usage() -> None:
    """The list above knows every command."""
    marks = test_bad_usage.pytestmark  # type: ignore[attr-defined]
    tried = {args.partition(" ")[0] for args, _ in marks[0].args[1]}

    assert set(app.commands) <= tried


SPEC = """
id = "mine"
statement = "A change of ours."
extends = "torch-2.13"
[operations]
set_data = {phases}
"""


@pytest.mark.parametrize(
    ("phases", "what"),
    [
        ('["copy-imp"]', "unknown phase 'copy-imp' @ mine.toml:operations.set_data[0]"),
        ('["copy-impl", "copy-impl"]', "phase 'copy-impl' is named twice"),
        ('"copy-impl"', "is not an array of texts"),
        ("[", "TOML syntax"),
    ],
)
def test_a_bad_spec(
    phases: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A spec that cannot be run is told by file and path, before any search."""
    (tmp_path / "mine.toml").write_text(SPEC.replace("{phases}", phases), "utf-8")

    assert run("check", "mine.toml") == BAD
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert what in err
    assert [one.name for one in tmp_path.iterdir()] == ["mine.toml"]


def test_two_scopes_of_one_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files of one name in two folders would be taken for one scope."""
    text = (specs_folder() / "scopes" / "rnn.toml").read_text(encoding="utf-8")
    for folder in ("one", "other"):
        path = tmp_path / folder / "mine.toml"
        path.parent.mkdir()
        path.write_text(text.replace('id = "rnn"', 'id = "mine"'), "utf-8")

    args = ("--scope", "one/mine.toml", "--scope", "other/mine.toml")

    assert run("check", NEW, *args) == BAD
    assert "another scope called mine" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "the file is empty"),
        (b"claim = \xff", "the file is not UTF-8 @ mine.toml:byte 8"),
        (b'claim = "x"\ngiven = 1', "1 is not a table @ mine.toml:given"),
        (b"nonsense = 1", "unknown key 'nonsense' @ mine.toml:nonsense"),
        (b"\0", "TOML syntax"),
        (b"a = " + b"[" * 3000 + b"]" * 3000, "nested too deeply @ mine.toml"),
    ],
    ids=["empty", "not UTF-8", "wrong type", "unknown key", "zero", "deep"],
)
@pytest.mark.parametrize("command", [["run"], ["check"], ["check", "--scope"]])
def test_bad_files(
    command: list[str],
    content: bytes,
    what: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A file that is no scenario, spec or scope is told by its name."""
    (tmp_path / "mine.toml").write_bytes(content)

    assert run(*command, "mine.toml") == BAD
    _, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert "mine.toml" in err
    if command == ["run"] or "given" not in what:
        assert what in err


@pytest.mark.parametrize("option", ["--out", "--json"])
@pytest.mark.parametrize("path", ["file.txt/below", "/dev/null/below"])
def test_nowhere_to_write(
    option: str, path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A place that cannot be written to is refused before the search."""
    (tmp_path / "file.txt").write_text("kept", "utf-8")
    target = f"{path}/x.json" if option == "--json" else path

    assert run("check", NEW, option, target) == BAD
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "no folder to write to @ " in err
    assert [one.name for one in tmp_path.iterdir()] == ["file.txt"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_right_to_write(tmp_path: Path) -> None:
    """A folder without the right to write is refused before the search."""
    (tmp_path / "shut").mkdir()
    (tmp_path / "shut").chmod(stat.S_IRUSR | stat.S_IXUSR)

    assert run("check", NEW, "--out", "shut/report") == BAD
