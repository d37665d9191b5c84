"""Optimizers, as records."""

from typing import get_args, get_type_hints

from swapmodel.actions import MakeOptimizer
from swapmodel.state.optimizers import OptimizerKind


def test_every_kind_can_be_made() -> None:
    """A program can make an optimizer of every kind."""
    assert get_type_hints(MakeOptimizer)["kind"] == OptimizerKind
    assert set(get_args(OptimizerKind)) == {"SGD", "SGD-momentum", "Adam"}
