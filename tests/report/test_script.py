"""The scripts, and what real torch makes of them."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from swapmodel.conformance.confirm import run_script
from swapmodel.report.script import releases_of, script
from swapmodel.run import Counterexample
from swapmodel.specfiles.read import load_spec
from tests.report import examples

HERE = "2.13.0"
"""The torch that the tests run on."""


def written(one: Counterexample, *releases: str) -> str:
    """The script of a counterexample under its own spec."""
    return script(one, load_spec(one.spec), releases=releases)


def test_the_script_is_the_golden_one() -> None:
    """A person reads imports, helpers, the program and the comparison."""
    examples.assert_golden("torn.py.txt", written(examples.torn()))


@pytest.mark.parametrize("example", examples.CONFIRMED, ids=lambda one: one.__name__)
def test_a_script_imports_torch_alone(example: Callable[[], Counterexample]) -> None:
    """Nobody who runs a script has to install anything but torch."""
    tree = ast.parse(written(example()))
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    } | {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert names <= {
        "gc",
        "re",
        "subprocess",
        "sys",
        "torch",
        "torch.utils._pytree",
        "weakref",
    }


def test_releases_are_told_by_minor_number_oldest_first() -> None:
    """A script is for every patch of the releases of its spec."""

    assert releases_of(load_spec("torch-2.4")) == ("2.4", "2.5", "2.6", "2.7")


@pytest.mark.torch
@pytest.mark.parametrize("example", examples.CONFIRMED, ids=lambda one: one.__name__)
def test_torch_shows_what_is_predicted(
    example: Callable[[], Counterexample], tmp_path: Path
) -> None:
    """Every script exits 0 on the release that it is for."""
    path = tmp_path / "script.py"
    path.write_text(written(example()), encoding="utf-8")
    confirmed = run_script(path)

    assert confirmed.confirmation == "reproduced", confirmed.output
    assert f"reproduced on torch {HERE}" in confirmed.output


@pytest.mark.torch
def test_a_wrong_prediction_is_refuted(tmp_path: Path) -> None:
    """What torch 2.3 does is not what torch 2.13 does, and the script notices."""
    path = tmp_path / "script.py"
    path.write_text(written(examples.torn_by_view(), HERE), encoding="utf-8")
    confirmed = run_script(path)

    assert (confirmed.exit_code, confirmed.confirmation) == (1, "refuted")
    assert "DIFFERENT     type(m.weight).__name__" in confirmed.output


@pytest.mark.torch
def test_a_child_that_survives_is_refuted(tmp_path: Path) -> None:
    """A fatal line that is not fatal is a wrong prediction."""
    path = tmp_path / "script.py"
    text = written(examples.fatal()).replace("p.data = m.weight", "p.data = p")
    path.write_text(text, encoding="utf-8")

    assert run_script(path).exit_code == 1


@pytest.mark.torch
def test_another_release_is_skipped(tmp_path: Path) -> None:
    """A script for torch 2.1 says nothing about torch 2.13."""
    path = tmp_path / "script.py"
    path.write_text(written(examples.left_behind()), encoding="utf-8")
    confirmed = run_script(path)

    assert (confirmed.exit_code, confirmed.confirmation) == (77, "skipped")
    assert confirmed.output == f"this is for torch-2.1, and here is torch {HERE}\n"
