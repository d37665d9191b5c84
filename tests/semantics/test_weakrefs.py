"""Weak references: what they yield, note and report, and who sees them."""

import pytest

from swapmodel.actions import (
    Action,
    Cast,
    CastData,
    ClearGrad,
    Convert,
    Drop,
    SwapTensors,
    TakeWeakref,
)
from swapmodel.outcomes import Done
from swapmodel.semantics.step import step
from swapmodel.semantics.weakrefs import passes, python_types
from swapmodel.state.events import Fired
from swapmodel.state.heap import Heap
from swapmodel.state.keepers import Keeper
from tests.heaps import NEW, at, done, module, refused, spec


def called(heap: Heap, action: Action) -> list[str]:
    """The labels that weak references report as an action ends."""
    outcome = step(heap, action, spec(NEW))
    assert isinstance(outcome, Done)
    fired = [one for one in outcome.events if isinstance(one, Fired)]
    return [one.hook for one in fired if one.kind == "weakref"]


def test_shared_references_are_listed_once() -> None:
    """`weakref.ref(t)` and `TensorWeakRef(t)` are one reference, callbacks are not."""
    keepers: tuple[Keeper, ...] = (
        *("ReferenceType", "TensorWeakRef", "guard", "ProxyType", "callback"),
        *("WeakSet", "KeyedRef", "_WeakTensorRef"),
    )
    taken = [TakeWeakref(one, "t", f"r{n}") for n, one in enumerate(keepers)]
    heap = done(module(), *taken)

    assert python_types(heap, at(heap, "t")) == [
        "KeyedRef",
        "ProxyType",
        *["ReferenceType"] * 3,
    ]


@pytest.mark.parametrize("keeper", ["callback", "finalize"])
def test_a_callback_reports_a_death(keeper: Keeper) -> None:
    """It is called when the last owner lets go, and once."""
    heap = done(module(), TakeWeakref(keeper, "m.weight.grad", "r"))

    assert called(heap, Drop("p")) == []
    assert called(heap, ClearGrad("m.weight")) == ["r"]
    assert called(done(heap, ClearGrad("m.weight")), Drop("r")) == []


def test_a_finalizer_outlives_its_name() -> None:
    """`weakref.finalize` is kept by a registry; a reference with a callback is not."""
    heap = done(module(), TakeWeakref("finalize", "t", "r"), Drop("r"))
    gone = done(module(), TakeWeakref("callback", "t", "r"), Drop("r"))

    assert python_types(heap, at(heap, "t")) == ["ReferenceType"]
    assert called(heap, Drop("t")) == ["r"]
    assert not any(done(heap, Drop("t")).weakrefs)
    assert called(gone, Drop("t")) == []
    assert refused(heap, SwapTensors("p", "t")).rule == "swap/no-weakrefs"


def test_a_guard_reads_metadata_again() -> None:
    """It passes until the tensor changes or dies."""
    heap = done(module(), TakeWeakref("guard", "t", "r"))
    cast = done(heap, CastData("t", "float64"))

    assert passes(heap, heap.weakrefs[0])
    assert not passes(cast, cast.weakrefs[0])
    assert passes(done(cast, CastData("t", "float32")), cast.weakrefs[0])
    assert not passes(heap, done(heap, Drop("t")).weakrefs[0])


def test_a_set_data_conversion_keeps_what_is_referred_to() -> None:
    """The object stays, so that every keeper hands out the parameter."""
    heap = done(module(), TakeWeakref("WeakIdKeyDictionary", "m.weight", "r"))
    then = done(heap, Convert("m", Cast("float64")))

    assert then.weakrefs[0].tensor == at(then, "m.weight")
    assert then.weakrefs[0].ghost_impl == then.tensor(at(then, "m.weight")).impl
