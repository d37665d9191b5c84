"""Looking: what Python sees is read without changing it, and values stay small."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.conformance.look import keep_small, observe_world  # noqa: E402
from swapmodel.conformance.observation import observe  # noqa: E402
from swapmodel.conformance.world import World  # noqa: E402
from tests.heaps import STARTS  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:The .grad attribute"),
]


def test_values_are_brought_below_the_modulus() -> None:
    """Behind torch's back: no write is counted, and inner tensors are not forgotten."""
    t = torch.tensor([9.0, -1.0])
    before = t._version
    keep_small({"t": t, "v": t[1:]})

    assert t.tolist() == [1.0, 7.0]
    assert t._version == before


def test_what_is_small_is_not_written() -> None:
    """Nor is a tensor whose memory is not there."""
    t, meta = torch.tensor([0.0, 7.0]), torch.empty(2, device="meta")
    keep_small({"t": t, "meta": meta})

    assert t.tolist() == [0.0, 7.0]


@pytest.mark.parametrize("heap", STARTS)
def test_both_worlds_are_read_alike(heap) -> None:  # type: ignore[no-untyped-def]
    """What is seen of real tensors is what the model says of its heap."""
    assert observe_world(World(heap).variables) == observe(heap)
