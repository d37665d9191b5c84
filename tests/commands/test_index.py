"""`swapmodel index`, from the command line."""

from pathlib import Path

import pytest

from swapmodel.commands import index
from tests.commands.test_lookup import run


def test_what_is_stale_is_written_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--check` writes nothing and exits 2; without it the file is fresh afterwards."""
    monkeypatch.setattr(index, "specs_folder", lambda: tmp_path / "specs")
    monkeypatch.setattr(index, "generated", lambda: {"README.md": "new\n"})
    (tmp_path / "README.md").write_text("old\n", encoding="utf-8")

    assert run(capsys, "index", "--check") == (2, "stale: README.md\n", "")
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "old\n"
    assert run(capsys, "index") == (0, "written: README.md\n", "")
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "new\n"
    assert run(capsys, "index", "--check") == (0, "", "")
