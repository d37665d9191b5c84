"""Performing: every action is one expression of torch."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.actions import (  # noqa: E402
    ACTIONS,
    Cast,
    Convert,
    Drop,
    Forward,
    RegisterHook,
    SetFlag,
    TakeWeakref,
)
from swapmodel.conformance.perform import _PERFORMERS, perform, set_flag  # noqa: E402
from swapmodel.conformance.world import World  # noqa: E402
from tests.heaps import module  # noqa: E402
from tests.semantics.examples import EXAMPLES  # noqa: E402

pytestmark = [pytest.mark.torch]


def test_every_kind_is_performed() -> None:
    """By a function of its own, or by name and place alone."""
    by_hand = {Drop, Convert, RegisterHook, TakeWeakref}

    assert set(_PERFORMERS) == set(ACTIONS) - by_hand


WITH_OPERANDS = [one for one in EXAMPLES if not isinstance(one, SetFlag)]


@pytest.mark.parametrize("action", WITH_OPERANDS, ids=lambda one: type(one).__name__)
def test_an_operand_that_is_not_there(action) -> None:  # type: ignore[no-untyped-def]
    """Nothing is performed on nothing: Python raises as it would for a program."""
    with pytest.raises(AttributeError):
        perform({}, [], action)


def test_what_is_performed() -> None:
    """A value is computed, a hook hears of its gradient, a variable goes."""
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    variables, fired = {"w": w}, list[str]()
    perform(variables, fired, Forward("scale", "w", "y"))
    perform(variables, fired, RegisterHook("w", "h"))
    variables["y"].sum().backward()
    perform(variables, fired, Drop("y"))

    assert fired == ["h"]
    assert w.grad.tolist() == [3.0, 3.0]
    assert list(variables) == ["w"]


def test_a_conversion_is_the_line_of_a_script() -> None:
    """The module stands in it under a name of its own."""
    variables = World(module()).variables
    perform(variables, [], Convert("m", Cast("float64")))

    assert variables["m"].weight.dtype is torch.float64


def test_flags() -> None:
    """Both switches of `torch.__future__` can be set by name."""
    for name in ("swap", "overwrite"):
        for value in (True, False):
            set_flag(name, value)
            getter = f"get_{name}_module_params_on_conversion"
            assert getattr(torch.__future__, getter)() is value
