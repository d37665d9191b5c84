"""What is proposed: operands that are there, and names that are new."""

import pytest

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    Convert,
    Drop,
    RegisterHook,
    SetAttribute,
    SetFlag,
    SwapTensors,
    TakeWeakref,
    Unregister,
    View,
)
from swapmodel.search.enabled import enabled
from tests.search.starts import TRIED, module
from tests.search.test_canonical import after

HEAP = after(
    module(),
    View("m.weight", "v"),
    RegisterHook("m.weight", "h"),
    SetAttribute("m.weight", "tag"),
)


@pytest.mark.parametrize(
    ("action", "proposed"),
    [
        (Convert("m", Cast("float64")), True),
        (Convert("t", Cast("float64")), False),
        (SwapTensors("m.weight", "t"), True),
        (SwapTensors("m", "t"), False),
        (SwapTensors("m.weight", "m.bias"), False),
        (Backward("m.weight.grad"), True),
        (Backward("y"), False),
        (View("m.weight", "v"), False),
        (View("m.weight", "w"), True),
        (TakeWeakref("ReferenceType", "m.weight", "t"), False),
        (Drop("v"), True),
        (Drop("w"), False),
        (RegisterHook("m.weight", "h"), False),
        (RegisterHook("t", "h"), False),
        (RegisterHook("m.weight", "g"), True),
        (SetAttribute("m.weight", "tag"), False),
        (SetAttribute("m.weight", "tag", 2), True),
        (SetAttribute("t", "tag"), True),
        (SetFlag("swap"), True),
        (SetFlag("swap", False), False),
        (Unregister("m", "weight"), True),
        (Unregister("m", "nothing"), False),
    ],
)
def test_proposed(action: Action, proposed: bool) -> None:
    """An action is proposed where its operands stand and what it names is new."""
    assert [action] * proposed == list(enabled(HEAP, [action]))


def test_order_is_kept() -> None:
    """Actions are proposed in the order in which they are given."""
    proposed = list(enabled(module(), TRIED))

    assert sorted(proposed, key=TRIED.index) == proposed
