"""Undefined programs: a child process says how they end."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.actions import Forward, SetData, Write  # noqa: E402
from swapmodel.conformance.predicted import MISBEHAVED  # noqa: E402
from swapmodel.conformance.undefined import end_of  # noqa: E402
from tests.heaps import module  # noqa: E402

pytestmark = [pytest.mark.torch]


def test_a_null_storage() -> None:
    """Reading it dies, or is refused for having no memory."""
    program = SetData("t", "p"), Forward("scale", "t", "y")

    assert end_of(module("TwoTensor"), program) in MISBEHAVED


def test_a_program_that_goes_on() -> None:
    """One that ends well, and one that torch refuses, did not misbehave."""
    assert end_of(module(), (Write("t"),)) == "went on"
    assert end_of(module(), (Write("nowhere"),)) == "raised"
