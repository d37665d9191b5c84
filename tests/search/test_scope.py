"""Scopes: what a search is given is a value, most of which has to be given."""

import attrs
import pytest

from swapmodel.actions import Drop
from swapmodel.search.scope import Scope
from tests.heaps import module


def test_what_a_scope_needs() -> None:
    """Starts, actions and a depth; a sentence and pinned counts may be left out."""
    fields = attrs.fields(Scope)
    needed = [one.name for one in fields if one.default is attrs.NOTHING]

    assert needed == ["id", "starts", "actions", "depth"]


def test_scopes_are_values() -> None:
    """Equal scopes are one scope, so that a search can be shared between specs."""
    made = [
        Scope(id="one", starts=(("s", module()),), actions=(Drop("p"),), depth=2)
        for _ in range(2)
    ]

    assert made[0] == made[1]
    assert len(set(made)) == 1
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        made[0].depth = 3  # type: ignore[misc]
