"""`RNNBase._apply`: weak references that are given up and taken again."""

import attrs
import pytest

from swapmodel.actions import (
    Cast,
    Convert,
    DeepcopyModule,
    Drop,
    Forward,
    NameTensor,
    Register,
    SwapTensors,
    TakeWeakref,
    Unregister,
)
from swapmodel.semantics.step import step
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from swapmodel.state.ids import ModuleId
from tests.heaps import LATE, NEW, NO_SWAP, at, done, refused, spec
from tests.semantics.test_modules import H, W, rnn

DOUBLE = Convert("m", Cast("float64"))
M = ModuleId(0)


def yielded(heap: Heap, m: ModuleId = M) -> list[int | None]:
    """What the weak references of a module yield."""
    refs = heap.module(m).flat_weight_refs
    return [None if w is None else heap.weakref(w).tensor for w in refs]


@pytest.mark.parametrize("under", [NO_SWAP, LATE, NEW])
@pytest.mark.parametrize("flags", [{}, {"overwrite": True}], ids=str)
def test_lists_are_made_again(under: str, flags: dict[str, bool]) -> None:
    """After a conversion the lists name what is registered then."""
    then = done(rnn(**flags), DOUBLE, under=under)
    now = [at(then, f"m.{W}"), at(then, f"m.{H}")]

    assert list(then.module(M).flat_weights) == now
    assert yielded(then) == now


def test_names_are_those_of_the_module() -> None:
    """Which weights are listed twice is the module's own to say, not its class's."""
    draft = Draft(rnn())
    module = draft.edit_module(M)
    module.cls, module.flat_weights_names = "GRU", (H,)
    module.flat_weights, module.flat_weight_refs = module.flat_weights[1:], ()
    then = done(draft.sealed(), DOUBLE)

    assert list(then.module(M).flat_weights) == [at(then, f"m.{H}")]
    assert yielded(then) == [at(then, f"m.{H}")]
    copied = done(then, DeepcopyModule("m", "d"))
    assert copied.module(ModuleId(1)).flat_weights_names == (H,)


@pytest.mark.parametrize("under", [LATE, NEW])
def test_suspended(under: str) -> None:
    """The module's own weak references are no obstacle to a swap, a user's is."""
    heap = rnn(swap=True)
    then = done(heap, DOUBLE, under=under)

    assert yielded(then) == [at(heap, f"m.{W}"), at(heap, f"m.{H}")]
    own = done(heap, TakeWeakref("ReferenceType", f"m.{H}", "r"))
    assert refused(own, DOUBLE, under).rule == "swap/no-weakrefs"
    assert refused(heap, SwapTensors("p", f"m.{W}")).refusal.operand == "t2"


def test_not_restored() -> None:
    """A refused conversion leaves no weak reference, and the list as it was."""
    heap = done(rnn(swap=True), Forward("square", f"m.{H}", "y"))
    then = refused(heap, DOUBLE).heap

    assert then.module(M).flat_weight_refs == ()
    assert then.module(M).flat_weights == heap.module(M).flat_weights
    assert [one for one in then.weakrefs if one] == []
    assert yielded(done(then, Drop("y"), DOUBLE)) == [
        at(heap, f"m.{W}"),
        at(heap, f"m.{H}"),
    ]


def test_restored_by_a_proposal() -> None:
    """A spec can restore the weak references when the conversion is refused."""
    heap = done(rnn(swap=True), Forward("square", f"m.{H}", "y"))
    base = spec(NEW)
    better = attrs.evolve(
        base, refused=(*base.refused, ("convert_rnn", ("restore-weakrefs",)))
    )
    outcome = step(heap, DOUBLE, better)

    assert yielded(outcome.heap) == [at(heap, f"m.{W}"), at(heap, f"m.{H}")]  # type: ignore[union-attr]


def test_stale() -> None:
    """What a module computes with can be what it registers no more."""
    heap = done(rnn(overwrite=True), Register("m", H, "t", "by hand"))
    outcome = refused(heap, DOUBLE)
    then = outcome.heap

    assert outcome.rule == "convert/not-a-parameter"
    assert at(then, "m._flat_weights[0]") == at(heap, f"m.{W}") != at(then, f"m.{W}")


# -- Copies --------------------------------------------------------------------------


def test_copied() -> None:
    """A copy lists its own weights, and refers to them."""
    heap = done(rnn(), DeepcopyModule("m", "n"))
    copied = ModuleId(1)

    assert list(heap.module(copied).flat_weights) == [
        at(heap, f"n.{W}"),
        at(heap, f"n.{H}"),
    ]
    assert yielded(heap, copied) == list(heap.module(copied).flat_weights)
    assert at(heap, f"n.{W}") != at(heap, f"m.{W}")


def test_copying_looks_for_changes() -> None:
    """A copy lists the weights of the source again, if one was replaced."""
    heap = done(rnn(), Register("m", W, "p"))
    then = done(heap, DeepcopyModule("m", "n"))

    assert at(heap, "m._flat_weights[0]") != at(heap, "p")
    assert at(then, "m._flat_weights[0]") == at(heap, "p")
    gone = done(rnn(), NameTensor(f"m.{W}", "w"), Unregister("m", W))
    copied = done(gone, DeepcopyModule("m", "n"))
    assert at(copied, "m._flat_weights[0]") == at(copied, "w")
    again = done(copied, DOUBLE)
    assert again.module(M).flat_weights[0] is None
    assert again.module(M).flat_weight_refs[0] is None
    twice = done(again, DeepcopyModule("m", "o"))
    assert twice.module(ModuleId(len(twice.modules) - 1)).flat_weights[0] is None


def test_copying_what_is_broken() -> None:
    """Since its lists are compared strictly, a broken module cannot be copied."""
    heap = done(rnn(swap=True), Forward("square", f"m.{H}", "y"))
    broken = refused(heap, DOUBLE).heap

    assert refused(broken, DeepcopyModule("m", "n")).rule == "module/weakrefs-lost"
    mended = done(broken, DeepcopyModule("m", "n"), under=LATE)
    assert yielded(mended, ModuleId(1)) == list(mended.module(ModuleId(1)).flat_weights)
