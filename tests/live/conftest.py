"""What tests leave behind: no flag, and little for the collections of a judgement."""

import gc
import importlib.util
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def settled() -> Iterator[None]:
    """Keep everything that was there before a test out of its collections."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def unset_flags() -> Iterator[None]:
    """Let every test begin, and leave, with both flags off."""
    yield
    if importlib.util.find_spec("torch") is not None:
        from swapmodel.conformance.perform import set_flag

        set_flag("swap", False)
        set_flag("overwrite", False)
