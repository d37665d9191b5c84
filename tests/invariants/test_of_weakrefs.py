"""What weak references yield, and what keepers hand out."""

from attrs import evolve

from swapmodel.actions import (
    Convert,
    Drop,
    Forward,
    SwapTensors,
    TakeWeakref,
)
from swapmodel.conversions import Cast, RaiseAt
from swapmodel.invariants.of_weakrefs import weakrefs
from swapmodel.invariants.violation import Step
from swapmodel.outcomes import Done
from swapmodel.semantics.step import step
from tests.heaps import NEW, done, module, spec
from tests.invariants.examples import NO_GUARD, RNN, SWAP, violations


def test_a_reference_that_is_dropped_or_dead() -> None:
    """Nothing is asked of what is gone, or of what yields nothing any more."""
    heap = done(module(), Forward("scale", "p", "y"))
    heap = done(heap, TakeWeakref("ReferenceType", "y", "r"))

    assert violations("weakrefs", heap, Drop("y")) == []
    assert violations("weakrefs", heap, Drop("r")) == []
    assert violations("weakrefs", done(heap, Drop("y")), SWAP) == []


def test_an_entry_that_is_handed_out_for_another_tensor() -> None:
    """A container that is keyed by the object, after a swap that no guard refused."""
    heap = done(module(), TakeWeakref("WeakIdKeyDictionary", "p", "r"))
    (found,) = violations("weakrefs", heap, SWAP, under=NO_GUARD)

    assert (found.place, found.path) == ("r", "direct")
    assert found.now == "it is for what another tensor holds"


def test_a_plain_reference_stays_with_its_object() -> None:
    """`weakref.ref` promises the object, and not what it holds."""
    heap = done(module(), TakeWeakref("ReferenceType", "p", "r"))

    assert violations("weakrefs", heap, SWAP, under=NO_GUARD) == []


def test_a_reference_that_goes_by_the_impl() -> None:
    """Without either guard, a C++ reference yields the other tensor."""
    known = spec(NO_GUARD)
    kept = [
        (name, tuple(one for one in phases if one != "no-impl-weakrefs"))
        for name, phases in known.operations
    ]
    free = evolve(known, id="free", operations=tuple(kept))
    heap = done(module(), TakeWeakref("_WeakTensorRef", "p", "r"))
    outcome = step(heap, SwapTensors("p", "m.weight"), free)
    assert isinstance(outcome, Done)

    (found,) = weakrefs(Step(heap, SwapTensors("p", "m.weight"), outcome, free))

    assert found.was == "r yields what it was taken from"
    assert found.now == "another tensor"


def test_the_references_of_an_rnn() -> None:
    """A conversion suspends them, and a refusal leaves none."""
    found = violations("weakrefs", RNN, Convert("m", RaiseAt(2, Cast("float64"))))

    assert [one.now for one in found] == ["it is not there"] * 2
    assert violations("weakrefs", RNN, Convert("m", Cast("float64"))) == []
    assert spec(NEW).id == NEW
