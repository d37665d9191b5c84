"""The table of faults fits the code, and a fault that does not is told."""

import pytest

from tests.mutants.faults import Fault, faults, stale


def test_every_fault_fits_the_code() -> None:
    """Each old text stands exactly once, and the code compiles with the new one."""
    assert stale(faults()) == []


def test_the_table() -> None:
    """There are enough faults, each with a sentence of its own."""
    every = faults()

    assert len(every) >= 45
    assert len({one.says for one in every}) == len(every)
    assert all(one.says.endswith(".") for one in every)
    assert all(one.mirror() for one in every)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [("x", "y", "stands 2 times"), ("z", "y", "stands 0 times"), ("= 1", "= 1", "old")],
)
def test_a_fault_that_does_not_fit(old: str, new: str, why: str) -> None:
    """A text that is gone or stands twice, or a change that changes nothing."""
    with pytest.raises(ValueError, match=why):
        Fault("It fails.", "run.py", old, new).put_into("x = 1; x = 2")


def test_a_fault_that_is_no_python() -> None:
    """It would be noticed by every test, and tell nothing."""
    with pytest.raises(SyntaxError):
        Fault("It fails.", "run.py", "= 1", "= (").put_into("x = 1")
    with pytest.raises(IndentationError):
        Fault("It fails.", "run.py", "pass", "").put_into("def f():\n    pass\n")
