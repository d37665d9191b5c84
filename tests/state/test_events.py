"""Events: what a step tells beside its heap."""

from typing import get_args

from swapmodel.actions import Cast, Convert
from swapmodel.semantics.spec import OPERATIONS
from swapmodel.semantics.step import step
from swapmodel.state.events import Converted, Path, Role
from tests.heaps import NEW, module, spec


def test_a_conversion_tells_of_every_role() -> None:
    """Parameter, gradient and buffer are each told with the path they took."""
    outcome = step(module(buffer=True), Convert("m", Cast("float64")), spec(NEW))
    told = outcome.events

    assert set(get_args(Role)) == {e.role for e in told if isinstance(e, Converted)}


def test_paths_that_a_spec_chooses_are_operations() -> None:
    """Every path that an operation stands for is a path that can be told."""
    after = {name.partition("/")[2] for name in OPERATIONS} - {""}

    assert after
    assert after <= set(get_args(Path))
