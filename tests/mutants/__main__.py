"""
Do the tests notice faults of the code?  `python -m tests.mutants [WORD ...]`.

Each fault of `faults.toml` is put alone into a copy of the project; then the tests of
its file run, and if they pass, all that need no torch.  With words, only faults whose
sentence or file has one of them.
"""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

from attrs import frozen

from tests.meta import tree
from tests.mutants.faults import ROOT, Fault, faults, stale

PROCESSES = 2

SECONDS = 900
"""How long tests may run until a fault counts as noticed: many times what all take."""

ENOUGH = 0.95
"""The share of faults that the tests have to notice."""

WIDER = (
    ("tests/state", "tests/semantics", "tests/invariants"),
    ("tests", "--ignore=tests/conformance"),
)
"""What runs when the tests of the file have passed."""

PYTEST = ("-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider")
OPTIONS = ("-m", "not torch", "--tb=no", "--ignore=tests/mutants")


@frozen
class Tried:
    """What became of one fault."""

    fault: Fault
    by: str
    """The test that noticed it, or nothing."""

    seconds: float


def noticed(copy: Path, tests: tuple[str, ...]) -> str:
    """The first test that fails in a copy, or nothing."""
    environment = {**os.environ, "PYTHONPATH": str(copy), "CI": "true"}
    environment.pop("PYTEST_ADDOPTS", None)
    try:
        ran = subprocess.run(
            [sys.executable, *PYTEST, *OPTIONS, *tests],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"nothing ended within {SECONDS} s"
    if ran.returncode == 0:
        return ""
    failed = [
        one for one in ran.stdout.splitlines() if one.startswith(("FAILED", "ER"))
    ]
    if ran.returncode > 2 or not failed:
        raise RuntimeError(f"pytest did not run:\n{ran.stdout}{ran.stderr}")
    return failed[0].split(" - ")[0]


def tried(fault: Fault, copies: "SimpleQueue[Path]") -> Tried:
    """Put a fault into a copy that is free, and run tests until one notices it."""
    copy, began = copies.get(), time.monotonic()
    path = copy / "swapmodel" / fault.file
    whole = path.read_text(encoding="utf-8")
    by = ""
    try:
        path.write_text(fault.put_into(whole), encoding="utf-8")
        for tests in (tuple(fault.mirror()), *WIDER):
            by = by or (noticed(copy, tests) if tests else "")
    finally:
        path.write_text(whole, encoding="utf-8")
        copies.put(copy)
    return Tried(fault, by, time.monotonic() - began)


def copied(folder: Path) -> Path:
    """Make a copy of what is in git, or would be, in a repository of its own."""
    for path in tree.files_in_git():
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def without_a_fault(folder: Path) -> str:
    """The first test that fails in a copy as it is, or nothing."""
    return noticed(copied(folder), WIDER[-1])


def tell(one: Tried) -> None:
    """Say in a line what became of a fault."""
    verdict = "noticed " if one.by else "SURVIVED"
    print(f"{verdict} {one.seconds:5.1f} s  {one.fault.file}: {one.fault.says}")
    if one.by:
        print(f"                   {one.by}", flush=True)


def main(words: list[str]) -> int:
    """Try the faults that the words choose; zero if enough of them are noticed."""
    every = faults()
    if problems := stale(every):
        print("\n".join(problems), file=sys.stderr)
        return 4
    chosen = [
        one
        for one in every
        if not words or any(word in one.says + one.file for word in words)
    ]
    with TemporaryDirectory() as name, ThreadPoolExecutor(PROCESSES) as pool:
        folder = Path(name)
        sound = pool.submit(without_a_fault, folder / "sound")
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(PROCESSES):
            copies.put(copied(folder / str(number)))
        results = []
        for one in pool.map(lambda fault: tried(fault, copies), chosen):
            tell(one)
            results.append(one)
        if by := sound.result():
            print(f"the tests fail without a fault: {by}", file=sys.stderr)
            return 3
    caught = sum(bool(one.by) for one in results)
    print(f"{caught} of {len(results)} faults are noticed")
    return 0 if caught >= ENOUGH * len(results) else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
