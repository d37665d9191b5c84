"""Ctrl-C and closed pipes, in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from swapmodel.specfiles.files import specs_folder
from tests.heaps import NEW
from tests.scopes import endless, tiny

ROOT = Path(__file__).parent.parent


def started(folder: Path, args: Sequence[str]) -> subprocess.Popen[str]:
    """A command that runs in a folder, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "swapmodel", *args],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=listen,
    )


def listen() -> None:
    """Hear Ctrl-C even where whoever runs the tests ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def heard(running: subprocess.Popen[str], start: str) -> str:
    """What a command tells on its errors, up to the line that starts so."""
    assert running.stderr is not None
    told = ""
    while not told.rpartition("\n")[2].startswith(start):
        line = running.stderr.readline()
        assert line, f"it ended after {told!r}"
        told = told + "\n" + line.rstrip("\n") if told else line.rstrip("\n")
    return told + "\n"


def finished(running: subprocess.Popen[str]) -> tuple[str, str]:
    """Output and errors, once Ctrl-C has been sent to the whole group."""
    try:
        os.killpg(running.pid, signal.SIGINT)
        return running.communicate(timeout=60)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()


def interrupted(folder: Path, processes: int) -> tuple[int, str, str]:
    """Code, output and errors of a check that Ctrl-C ends in its second scope."""
    scopes = ("--scope", tiny(folder), "--scope", endless(folder))
    command = ("check", NEW, *scopes, "--processes", str(processes))
    running = started(folder, command)
    first = heard(running, "searched tiny")
    time.sleep(0.5)
    out, err = finished(running)
    return running.returncode, out, first + err


@pytest.mark.parametrize("processes", [1, 2])
def test_ctrl_c(tmp_path: Path, processes: int) -> None:
    """What was found is kept, the rest is undecided, and no traceback is shown."""
    code, _, err = interrupted(tmp_path, processes)
    report = tmp_path / "build/report"
    rows = json.loads((report / "verdicts.json").read_text("utf-8"))["rows"]
    verdicts = {row["verdict"] for row in rows}

    assert "Traceback" not in err
    assert "searched tiny: " in err
    assert "searched endless: " in err
    assert ", not to the end" in err
    assert {"violated", "undecided"} <= verdicts
    assert "holds" not in verdicts
    decided = [row for row in rows if row["verdict"] != "undecided"]
    refuted = any(row["verdict"] != row["claim"] for row in decided)
    assert code == (2 if refuted else 3)
    for row in rows:
        if row["verdict"] == "violated":
            assert (report / row["report"]).is_file()
            assert (report / row["script"]).is_file()


def test_ctrl_c_before_anything_was_found(tmp_path: Path) -> None:
    """A check that found nothing by then exits with undecided."""
    running = started(
        tmp_path, ("check", NEW, "--scope", endless(tmp_path), "--processes", "1")
    )
    heard(running, "searching 1 scope")
    time.sleep(0.5)
    _, err = finished(running)

    assert running.returncode == 3
    assert "Traceback" not in err


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    """A closed pipe is no crash and shows no traceback."""
    scenario = specs_folder() / "scenarios/convert/inner-tensors-converted.toml"
    running = started(tmp_path, ("run", str(scenario)))
    assert running.stdout is not None
    running.stdout.close()
    assert running.stderr is not None
    err = running.stderr.read()
    running.stderr.close()

    assert running.wait(timeout=60) == 2
    assert err == ""
