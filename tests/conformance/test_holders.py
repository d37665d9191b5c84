"""Holders: what Python sees of weak references and optimizers, in the model."""

import pytest

from swapmodel.actions import Drop, MakeOptimizer, OptimizerStep, TakeWeakref
from swapmodel.conformance.holders import NOWHERE, optimizer_row
from swapmodel.conformance.observation import observe
from swapmodel.state.heap import Heap
from swapmodel.state.ids import OptimizerId
from swapmodel.state.keepers import Keeper
from tests.heaps import done, module


def rows(heap: Heap) -> dict[str, tuple[object, ...]]:
    """What is told of each variable that holds a weak reference."""
    return {row[0]: tuple(row[1:]) for row in observe(heap).weakrefs}


@pytest.mark.parametrize(
    ("keeper", "handed_out"),
    [
        ("ReferenceType", ()),
        ("callback", ()),
        ("WeakIdKeyDictionary", True),
        ("WeakSet", "ambiguous"),
    ],
)
def test_what_a_keeper_hands_out(keeper: Keeper, handed_out: object) -> None:
    """By identity the entry, by equality an error for two elements, else nothing."""
    heap = done(module(), TakeWeakref(keeper, "p", "r"))
    _, place, found = rows(heap)["r"]

    assert place != NOWHERE
    if handed_out == ():
        assert found == ()
    else:
        assert found == ((place, handed_out),)


def test_a_dead_reference() -> None:
    """It has no place; one of an impl tells none."""
    heap = done(module(), TakeWeakref("ReferenceType", "p", "r"))
    heap = done(heap, TakeWeakref("_WeakTensorRef", "t", "s"), Drop("p"))

    assert rows(heap) == {
        "r": ("ReferenceType", None, ()),
        "s": ("_WeakTensorRef", NOWHERE, ()),
    }


def test_a_guard_tells_whether_it_passes() -> None:
    """With what it noted of class, dtype, size and flag."""
    heap = done(module(), TakeWeakref("guard", "t", "r"))
    _, _, found = rows(heap)["r"]

    assert found == ((("Tensor", "float32", 2, False), True),)


def test_an_optimizer() -> None:
    """Its class, and by number what it keeps for a parameter."""
    heap = done(module(), MakeOptimizer("SGD-momentum", "m", "o"))
    assert list(optimizer_row(heap, OptimizerId(0))) == ["SGD"]

    heap = done(heap, OptimizerStep("o"))
    assert list(optimizer_row(heap, OptimizerId(0))) == [
        "SGD",
        ("[0][0]", ("momentum_buffer",)),
    ]
