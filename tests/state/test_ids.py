"""Ids: positions, one kind for each column, and what a variable can stand for."""

from typing import get_args, get_type_hints

from swapmodel.search.shapes import POSITIONS
from swapmodel.state import ids
from swapmodel.state.heap import COLUMNS, Columns, Heap


def test_every_column_has_one_kind_of_position() -> None:
    """Impls share theirs with their metadata."""
    kinds = {name for name in vars(ids) if name.endswith("Id")}
    looked_up = [column for columns in POSITIONS.values() for column in columns]

    assert {kind.__name__ for kind in POSITIONS} == kinds
    assert sorted(looked_up) == sorted(COLUMNS)
    assert POSITIONS[ids.ImplId] == ("impls", "metas")


def test_what_a_variable_can_stand_for() -> None:
    """Each kind is that of a column, which a heap reads by a method of its name."""
    for kind in get_args(ids.Kind):
        assert f"{kind}s" in get_type_hints(Heap)
        assert hasattr(Columns, kind)
