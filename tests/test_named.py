"""Names: an action's field says by its type what has to stand there."""

from typing import get_args

from swapmodel.actions import ACTIONS, operands
from swapmodel.named import ModulePlace, Name, OptimizerPlace, Place
from swapmodel.state.ids import Kind


def test_places_say_what_they_need() -> None:
    """Each is a text, with a kind of thing that a variable can stand for."""
    needed = [get_args(one)[1] for one in (Place, ModulePlace, OptimizerPlace)]

    assert needed == ["tensor", "module", "optimizer"]
    assert {get_args(one)[0] for one in (Place, ModulePlace, OptimizerPlace)} == {str}
    assert set(needed) < set(get_args(Kind))
    assert Name is str


def test_every_kind_of_place_is_used() -> None:
    """Some action needs each of them."""
    used = {kind for action in ACTIONS for _, kind in operands(action)}

    assert used == {"tensor", "module", "optimizer"}
