"""A weak reference, as a record."""

import pytest

from swapmodel.state.keepers import KEEPERS, Keeper
from swapmodel.state.weakrefs import Weakref, type_of


@pytest.mark.parametrize("keeper", KEEPERS)
def test_the_keeper_says_the_type(keeper: Keeper) -> None:
    """What a guard sees is not stored beside what holds it."""
    assert type_of(Weakref(keeper=keeper)) == KEEPERS[keeper].type
