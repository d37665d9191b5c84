"""Version counters that are shared."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.live.counters import shared_counters  # noqa: E402

pytestmark = pytest.mark.torch


def test_shared() -> None:
    """An alias by `detach` and a view count with their tensor, `.data` does not."""
    t = torch.ones(2)
    t.add_(1)
    live = [t, t.detach(), t.data, t.view(2, 1), torch.ones(2)]

    assert shared_counters(live) == [0, 0, 2, 0, 4]


def test_put_back() -> None:
    """Nobody sees that the counters were touched."""
    t = torch.ones(2)
    t.add_(1).add_(1)
    alone = torch.ones(2)
    live = [t, alone, t.detach()]
    shared_counters(live)

    assert [one._version for one in live] == [2, 0, 2]
