"""How an explanation reads in a terminal."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from swapmodel.actions import Cast, Convert
from swapmodel.report.explain import explain, explain_program
from swapmodel.report.start import start_lines
from swapmodel.report.text import render_explanation, render_program
from swapmodel.run import Counterexample
from swapmodel.specfiles.read import load_spec
from tests.report import examples

TOLD = (
    examples.left_behind,
    examples.dead_hook,
    examples.torn_by_view,
    examples.poisoned,
    examples.fatal,
)


def text(example: Callable[[], Counterexample]) -> str:
    """The text of one example."""
    one = example()
    replay = f"python {example.__name__}.py"
    return render_explanation(explain(one, load_spec(one.spec), replay))


@pytest.mark.parametrize("example", TOLD, ids=lambda one: one.__name__)
def test_explanations(example: Callable[[], Counterexample]) -> None:
    """Let, Then, But and Replay are those of the golden file."""
    examples.assert_golden(f"{example.__name__}.txt", text(example))


def test_the_last_line_is_the_command() -> None:
    """Whoever reads to the end knows what to run."""

    assert text(examples.torn).splitlines()[-1] == "Replay python torn.py"


def test_every_phase() -> None:
    """A program is told with its phases, those that changed nothing too."""
    start, spec = examples.wrapper_heap(), load_spec("torch-2.13")
    told = explain_program(start, (Convert("m", Cast("float32")),), spec)

    examples.assert_golden("every_phase.txt", render_program(start_lines(start), told))


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_same_bytes_whatever_the_hash_seed(seed: str) -> None:
    """A report does not depend on the order of a set."""
    code = (
        "from tests.report import examples; from tests.report.test_text import text;"
        "print(text(examples.poisoned), end='')"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        cwd=examples.GOLDEN.parents[2],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    examples.assert_golden("poisoned.txt", printed)
