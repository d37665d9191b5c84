"""Walking a live world."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

from torch.testing._internal.logging_tensor import LoggingTensor  # noqa: E402

from swapmodel.conformance.look import TorchReader  # noqa: E402
from swapmodel.conformance.sources import CLASSES  # noqa: E402
from swapmodel.conformance.survey import survey  # noqa: E402
from swapmodel.live.reader import LiveReader  # noqa: E402

pytestmark = pytest.mark.torch


def test_parts_in_slots() -> None:
    """A wrapper may keep what it wraps in a slot, where a program has none."""
    roots = {"t": LoggingTensor(torch.ones(2))}
    live, program = (survey(one(roots)) for one in (LiveReader, TorchReader))

    assert [place for place, _ in live.places] == ["t", "t.elem"]
    assert [place for place, _ in program.places] == ["t"]


def test_parts_in_the_dict() -> None:
    """Or in its `__dict__`, as everybody else."""
    wrapper = CLASSES["TwoTensor"](torch.ones(2), torch.ones(2))
    found = survey(LiveReader({"t": wrapper}))

    assert [place for place, _ in found.places] == ["t", "t.a", "t.b"]
