"""A collection after every action is cheap only when it sees little."""

import gc
import importlib.util
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def settled() -> Iterator[None]:
    """Keep everything that was there before a test out of its collections."""
    if importlib.util.find_spec("torch") is not None:
        from swapmodel.conformance.world import settle

        settle()
    yield
    gc.unfreeze()
