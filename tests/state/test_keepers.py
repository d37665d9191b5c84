"""Keepers of weak references: what each takes, and who sees it."""

from typing import get_args, get_type_hints

import pytest

from swapmodel.actions import TakeWeakref
from swapmodel.semantics.ownership import weak_count
from swapmodel.state.draft import Draft
from swapmodel.state.keepers import KEEPERS, PYTHON_TYPES, Keeper, WeakrefType
from tests.heaps import at, done, module


def test_every_keeper_can_be_asked_for() -> None:
    """A program can take a reference of every type, bare or in every keeper."""
    assert tuple(KEEPERS) == get_args(Keeper)
    assert get_args(Keeper) == get_args(get_type_hints(TakeWeakref)["type"])
    assert {one.type for one in KEEPERS.values()} == {*get_args(WeakrefType)}


def test_only_plain_references_are_shared() -> None:
    """Python gives out again what has no callback and no class of its own."""
    for keeper, promise in KEEPERS.items():
        assert not (promise.shared and promise.calls_back), keeper
        assert not promise.shared or promise.type in ("ReferenceType", "ProxyType")


@pytest.mark.parametrize("keeper", KEEPERS)
def test_each_reference_is_seen_by_one_guard(keeper: Keeper) -> None:
    """A reference is of the object, which Python lists, or of the impl, not both."""
    heap = done(module(), TakeWeakref(keeper, "p", "r"))
    (ref,) = heap.weakrefs
    p = at(heap, "p")
    of_object = KEEPERS[keeper].type in PYTHON_TYPES

    assert (p if of_object else None) == ref.tensor
    assert (None if of_object else heap.tensor(p).impl) == ref.impl
    assert (not of_object) == weak_count(Draft(heap), p)
