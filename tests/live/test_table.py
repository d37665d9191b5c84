"""The page that says on what the model and torch agree."""

from pathlib import Path

import pytest

pytest.importorskip("torch")

from swapmodel.live.agree import CASES, OPERATIONS, Tally
from swapmodel.live.table import render_agreement, summary

pytestmark = pytest.mark.torch

PAGE = Path(__file__).parents[2] / "docs" / "agreement.md"


def tallies() -> tuple[Tally, Tally]:
    """A class on which all agree, and one with everything else."""
    good, bad = Tally("nn.Good", 2), Tally("nn.Bad", 1)
    for operation in OPERATIONS:
        good.agreed[operation] = 12
        bad.declined[operation, "a script module"] = 5
    bad.agreed[".double()"] = 1
    bad.refused["swap/few-owners"] = 1
    bad.disagreed = 3
    return good, bad


def test_summary() -> None:
    """All numbers in one line."""
    assert summary(tallies()) == (
        "2 classes, 3 instances, 72 conversions: 49 agree, 20 declined, 3 disagree"
    )


def test_page() -> None:
    """A row for each class, then reasons and refusals."""
    page = render_agreement([("Modules", tallies())], "2.13.0", "torch-2.13")

    assert "on torch 2.13.0, under the spec `torch-2.13`" in page
    assert "| `nn.Good` | 2 | 12 | 12 | 12 | 12 |  |  |" in page
    assert "| `nn.Bad` | 1 | 1 | 0 | 0 | 0 | 20 | 3 |" in page
    assert "| a script module | `nn.Bad` | `.double()` | 5 |" in page
    assert "| `swap/few-owners` | `nn.Bad` | 1 |" in page
    assert f"in {len(CASES)} ways" in page


def test_nothing_declined() -> None:
    """Without reasons there is no table of them."""
    page = render_agreement([("Modules", tallies()[:1])], "2.13.0", "torch-2.13")

    assert "Declined" not in page
    assert "Refused" not in page


def test_the_page_is_of_all_classes() -> None:
    """The page that is kept has no disagreement and leaves out no class of torch's."""
    pytest.importorskip("expecttest")
    from swapmodel.live.samples import module_kinds, tensor_kinds

    text = PAGE.read_text(encoding="utf-8")
    listed = [line.split("`")[1] for line in text.splitlines() if line[:3] == "| `"]

    kinds = [*module_kinds(), *tensor_kinds()]
    assert listed[: len(kinds)] == kinds
    assert " 0 disagree" in text
