"""Actions: what a program is made of."""

from typing import Any, get_args

import attrs
import pytest
from hypothesis import find

from swapmodel.actions import ACTIONS, Action, SetData, SwapTensors, operands
from tests.heaps import programs
from tests.semantics.examples import EXAMPLES

every_kind = pytest.mark.parametrize("kind", ACTIONS, ids=lambda kind: kind.__name__)


def test_the_table_lists_the_union() -> None:
    """`ACTIONS` names every member of the union once, in its order."""
    assert get_args(Action) == ACTIONS


@every_kind
def test_operands_are_fields(kind: type[Action]) -> None:
    """An operand is a field, in the order of the fields, of a known kind."""
    names = [one.name for one in attrs.fields(kind)]
    found = dict(operands(kind))

    assert [name for name in names if name in found] == list(found)
    assert set(found.values()) <= {"tensor", "module", "optimizer"}


@every_kind
def test_every_other_field_is_no_place(kind: type[Action]) -> None:
    """What is assigned, labelled or chosen is not resolved before the action runs."""
    assert not {"name", "label", "key", "dtype", "fn", "function"} & set(
        dict(operands(kind))
    )


def test_operands_of_a_swap() -> None:
    """Both operands of a swap are tensors, and are told apart by name."""
    assert operands(SwapTensors) == (("t1", "tensor"), ("t2", "tensor"))
    assert operands(SetData) == (("t", "tensor"), ("u", "tensor"))


@every_kind
def test_actions_are_values(kind: Any) -> None:
    """Two actions with equal fields are one: they are equal and hash alike."""
    example = next(one for one in EXAMPLES if type(one) is kind)
    fields = {one.name: getattr(example, one.name) for one in attrs.fields(kind)}

    assert kind(**fields) == kind(*fields.values())
    assert hash(kind(**fields)) == hash(kind(**fields))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(kind(**fields), next(iter(fields)), "written")


def test_programs_of_every_kind_are_drawn() -> None:
    """The random programs of these tests hold every kind of action."""
    for kind in ACTIONS:
        found = find(
            programs(1),
            lambda program, kind=kind: kind in map(type, program),  # type: ignore[misc]
        )
        assert type(found[0]) is kind
