"""Names: an action's field says by its type what has to stand there."""

from typing import Any, get_args

import attrs
import pytest

from swapmodel.actions import ACTIONS, Convert, Forward, SetAttribute, operands
from swapmodel.conversions import Cast, RaiseAt, Wrap
from swapmodel.named import Checked, ModulePlace, Name, OptimizerPlace, Place
from swapmodel.state.ids import Kind
from tests.semantics.examples import EXAMPLES


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


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: type(one).__name__)
def test_no_field_holds_just_anything(example: Any) -> None:
    """Every field of every action refuses what it is not declared to hold."""
    assert issubclass(type(example), Checked)
    for one in attrs.fields(type(example)):
        for wrong in (None, 1.5, object()):
            with pytest.raises(
                TypeError, match=f"{type(example).__name__}.{one.name} = "
            ):
                attrs.evolve(example, **{one.name: wrong})


@pytest.mark.parametrize(
    ("kind", "fields", "error", "said"),
    [
        (Convert, ("m", None), TypeError, "Convert.fn = None is no Cast or To or "),
        (Cast, (3,), TypeError, "Cast.dtype = 3 is no str"),
        (SetAttribute, ("t", "k", True), TypeError, "value = True is no int"),
        (Forward, ("exp", "t", "y"), ValueError, "'exp' is none of 'scale', 'square'"),
        (Wrap, ("Threefold",), ValueError, "Wrap.cls = 'Threefold' is none of "),
        (RaiseAt, (1, RaiseAt(1, Cast("x"))), TypeError, "is no Cast or To or "),
    ],
)
def test_what_is_said(
    kind: Any, fields: tuple[object, ...], error: type[Exception], said: str
) -> None:
    """A mistake is told with the field, what stands there and what could."""
    with pytest.raises(error) as raised:
        kind(*fields)

    assert said in str(raised.value)
