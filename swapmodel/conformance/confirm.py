"""
Does every script that was written show its counterexample on the torch that is here?

The scripts run in processes of their own, so that this file needs no torch.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, TypeAlias

from attrs import frozen

Confirmation: TypeAlias = Literal["reproduced", "skipped", "refuted"]
"""What a script says by its exit code: 0, 77, or anything else."""

EXIT_CODES: dict[int, Confirmation] = {0: "reproduced", 77: "skipped"}

TIMEOUT_SECONDS = 300


@frozen
class Confirmed:
    """One script that was run."""

    script: Path
    confirmation: Confirmation
    exit_code: int
    """Minus the number of the signal, if one ended it."""

    output: str
    """What it printed; of a script that is refuted, errors too."""


Progress: TypeAlias = Callable[[Confirmed], None]


def confirm(
    scripts: Iterable[Path], *, jobs: int = 2, progress: Progress | None = None
) -> tuple[Confirmed, ...]:
    """Run every script with the Python that runs this, *jobs* at a time, in order."""
    found: list[Confirmed] = []
    with ThreadPoolExecutor(jobs) as pool:
        for one in pool.map(run_script, scripts):
            found.append(one)
            if progress is not None:
                progress(one)
    return tuple(found)


def run_script(script: Path) -> Confirmed:
    """Run one script to its end, or to the end of everybody's patience."""
    command = [sys.executable, str(script)]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired:
        why = f"it did not end within {TIMEOUT_SECONDS} s\n"
        return Confirmed(script, "refuted", 1, why)
    confirmation = EXIT_CODES.get(ended.returncode, "refuted")
    output = ended.stdout
    if confirmation == "refuted":
        output += ended.stderr
    return Confirmed(script, confirmation, ended.returncode, output)


def summary(found: Iterable[Confirmed]) -> str:
    """How many scripts came to what, and which ones are refuted, as text."""
    by_kind: dict[Confirmation, list[Confirmed]] = {
        "reproduced": [],
        "skipped": [],
        "refuted": [],
    }
    for one in found:
        by_kind[one.confirmation].append(one)
    counts = ", ".join(f"{len(ones)} {kind}" for kind, ones in by_kind.items())
    refuted = (f"refuted: {one.script} ({one.exit_code})" for one in by_kind["refuted"])
    return "\n".join([counts, *refuted]) + "\n"
