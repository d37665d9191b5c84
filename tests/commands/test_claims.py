"""`swapmodel claims`, from the command line."""

from pathlib import Path

import pytest

from swapmodel.check import Checked
from swapmodel.search.explore import Exploration
from tests.heaps import NEW
from tests.test_cli import run


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every command in an empty folder, so that what is written shows."""
    monkeypatch.chdir(tmp_path)


def checked(stopped: str | None = None) -> Checked:
    """What a check found that ended as it should, or was stopped."""
    one = Exploration(
        spec=NEW,
        scope="tiny",
        counterexamples=(),
        heaps=1,
        transitions=0,
        depth=1,
        rules=(),
        paths=(),
        stopped=stopped,  # type: ignore[arg-type]
    )
    return Checked(specs=(), explorations=(one,), known=())


@pytest.mark.parametrize(
    ("args", "stopped", "difference", "code", "told"),
    [
        ((), None, "", 0, ""),
        ((), None, "+ [[claim]]\n", 2, ""),
        (("--propose",), None, "+ [[claim]]\n", 2, "+ [[claim]]\n"),
        (("--propose",), "limit", "+ [[claim]]\n", 3, ""),
        (("--write",), None, "+ [[claim]]\n", 0, ""),
        (("--write",), "interrupt", "+ [[claim]]\n", 3, ""),
    ],
)
def test_claims(
    args: tuple[str, ...],
    stopped: str | None,
    difference: str,
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Claims that would change refute; they are printed or written when asked."""
    written: list[object] = []
    replacements: dict[str, object] = {
        "check": lambda *given, **more: checked(stopped),
        "propose": lambda found: {"claims/x.toml": "new\n"},
        "patch": lambda proposed: difference,
        "replace": written.append,
    }
    for name, replacement in replacements.items():
        monkeypatch.setattr(f"swapmodel.commands.claims.{name}", replacement)

    assert run("claims", *args) == code
    assert capsys.readouterr().out == told
    assert bool(written) == ("--write" in args and stopped is None)


def test_claims_of_a_proposal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a proposal has to list is printed, or written into its file."""
    Path("mine.toml").write_text(
        'id = "mine"\nstatement = "As 2.13."\nextends = "torch-2.13"\n', "utf-8"
    )
    where = "swapmodel.commands.claims"
    monkeypatch.setattr(f"{where}.check", lambda *given, **more: checked(None))
    monkeypatch.setattr(f"{where}.differing", lambda name, found: "differs\n")

    assert run("claims", "mine.toml", "--propose") == 2
    assert "+differs" in capsys.readouterr().out
    assert run("claims", "mine.toml", "--write") == 0
    assert Path("mine.toml").read_text("utf-8") == "differs\n"
    assert run("claims", "torch-2.13") == 4
    assert "torch-2.13 extends nothing" in capsys.readouterr().err
