"""How every test runs: Hypothesis profiles, and what happens without torch."""

import importlib.util
import os

import pytest
from hypothesis import settings

# A search that stops at the same place every time; nothing is kept between runs.
settings.register_profile(
    "ci",
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
)
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "nightly", max_examples=5_000, stateful_step_count=200, deadline=None
)
# `pytest --hypothesis-profile nightly` comes later and wins.
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Skip tests marked `torch` where torch is not installed.

    A torch that is installed and broken is not skipped: its tests fail.  A test
    file that imports torch, or what imports it, at its head needs
    `pytest.importorskip("torch")` above that import as well.
    """
    if importlib.util.find_spec("torch") is not None:
        return
    skip = pytest.mark.skip(reason="torch is not installed; `make conform` installs it")
    for item in items:
        if item.get_closest_marker("torch"):
            item.add_marker(skip)
