"""Scripts are run, and what they say is counted."""

from pathlib import Path

import pytest

from swapmodel.conformance import confirm
from swapmodel.conformance.confirm import Confirmed


def scripts(folder: Path) -> list[Path]:
    """Scripts that exit 0, 77 and 1, and one that a signal ends."""
    texts = {
        "good": "print('as predicted')",
        "other": "import sys; sys.exit(77)",
        "wrong": "import sys; print('seen', file=sys.stderr); sys.exit(1)",
        "dead": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    }
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return [folder / f"{name}.py" for name in texts]


def test_exit_codes_are_verdicts(tmp_path: Path) -> None:
    """0 reproduces, 77 skips, and everything else refutes, in the order given."""
    seen: list[Confirmed] = []
    found = confirm.confirm(scripts(tmp_path), progress=seen.append)

    assert [one.confirmation for one in found] == [
        "reproduced",
        "skipped",
        "refuted",
        "refuted",
    ]
    assert [one.exit_code for one in found] == [0, 77, 1, -9]
    assert [one.output for one in found] == ["as predicted\n", "", "seen\n", ""]
    assert tuple(seen) == found


def test_the_summary_names_what_is_refuted(tmp_path: Path) -> None:
    """Counts first, then the scripts that somebody has to look at."""
    found = confirm.confirm(scripts(tmp_path))
    first, *rest = confirm.summary(found).splitlines()

    assert first == "1 reproduced, 1 skipped, 2 refuted"
    assert rest == [
        f"refuted: {tmp_path / 'wrong.py'} (1)",
        f"refuted: {tmp_path / 'dead.py'} (-9)",
    ]


def test_a_script_that_does_not_end_is_refuted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for ever."""
    monkeypatch.setattr(confirm, "TIMEOUT_SECONDS", 0.2)
    path = tmp_path / "slow.py"
    path.write_text("import time; time.sleep(60)", encoding="utf-8")

    assert confirm.run_script(path).confirmation == "refuted"
