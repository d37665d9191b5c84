"""The areas: start heaps and actions that can be run in lockstep."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.conformance.areas import AREAS  # noqa: E402
from swapmodel.conformance.world import World  # noqa: E402
from swapmodel.search.enabled import enabled  # noqa: E402

pytestmark = [pytest.mark.torch]


@pytest.mark.parametrize("area", AREAS)
def test_every_start_is_made_in_torch(area: str) -> None:
    """The world reads as the heap, and some of its actions can begin."""
    for scope in AREAS[area]():
        for _, heap in scope.starts:
            assert World(heap).variables
            assert list(enabled(heap, scope.actions))
