"""Weak references: which types there are, and who sees which."""

from typing import get_args, get_type_hints

import pytest

from swapmodel.actions import TakeWeakref
from swapmodel.semantics.ownership import weak_count
from swapmodel.state.draft import Draft
from swapmodel.state.weakrefs import PYTHON_TYPES, WeakrefType
from tests.heaps import at, done, module


def test_every_type_can_be_taken() -> None:
    """A program can take a weak reference of every type that there is."""
    assert get_args(WeakrefType) == get_args(get_type_hints(TakeWeakref)["type"])


@pytest.mark.parametrize("kind", get_args(WeakrefType))
def test_each_type_is_seen_by_one_guard(kind: WeakrefType) -> None:
    """A reference is of the object, which Python lists, or of the impl, not both."""
    heap = done(module(), TakeWeakref(kind, "p", "r"))
    (ref,) = heap.weakrefs
    p = at(heap, "p")
    of_object = kind in PYTHON_TYPES

    assert (p if of_object else None) == ref.tensor
    assert (None if of_object else heap.tensor(p).impl) == ref.impl
    assert (not of_object) == weak_count(Draft(heap), p)
