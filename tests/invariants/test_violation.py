"""Steps as invariants see them, and the path that a violation is booked on."""

import pytest
from attrs import evolve

from swapmodel.actions import Cast, Convert, SwapTensors, TakeWeakref
from swapmodel.conversions import To
from swapmodel.invariants.violation import REMEMBERED_HEAPS, placed, remembered
from swapmodel.semantics.places import placements
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import NEW, NO_SWAP, at, done, module
from tests.invariants.examples import DOUBLE, SWAP, last_step


def test_the_heaps_around() -> None:
    """A step has the places of the heap before and what stands there after."""
    one = last_step(module(), (SwapTensors("p", "t"),), NEW)

    assert one.placed_before == tuple(placements(one.before))
    assert one.placed_then == {place: t for place, _, t in placements(one.then)}
    assert one.then == one.outcome.heap


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("m.weight", "swap"),
        ("m.weight.a", "swap"),
        ("m.weight.grad", "swap"),
        ("m.weight.grad.b", "swap"),
        ("m.plain", "data"),
        ("m.plain.grad", "data"),
        ("m.running", "replace"),
        ("p", "replace"),
        ("nowhere", "replace"),
        ("", "replace"),
    ],
)
def test_the_path_of_a_place(place: str, path: str) -> None:
    """A tensor is booked on its own path, what belongs to it on that one too."""
    build = Builder()
    w = build.parameter(cls="TwoTensor")
    build.gradient(w, build.tensor(cls="TwoTensor"))
    plain = build.parameter()
    build.gradient(plain, build.tensor())
    m = build.module({"weight": w, "plain": plain}, buffers={"running": build.tensor()})
    build.name("m", "module", m)
    build.name("p", "tensor", build.parameter())

    assert last_step(build.heap(), (DOUBLE,), NEW).path(place) == path


def test_a_registration_as_parameter_and_as_buffer() -> None:
    """What is registered as both is booked at each on the path that it took there."""
    build = Builder(swap=False, overwrite=True)
    w = build.parameter()
    build.name("m", "module", build.module({"weight": w}, buffers={"also": w}))
    one = last_step(build.heap(), (DOUBLE,), NEW)

    assert (one.path("m.weight"), one.path("m.also")) == ("assign", "replace")


def test_what_is_under_way() -> None:
    """Half-way, what is not converted counts with the tensor that is."""
    one = last_step(module(), (DOUBLE,), NEW)
    half = evolve(one, under_way="swap")

    assert (one.path("p"), half.path("p")) == ("data", "swap")
    assert half.path("m.weight") == "data"


def test_a_call_of_the_user() -> None:
    """What is no conversion takes no path of one."""
    one = last_step(module(), (SWAP,), NEW)

    assert {one.path(place) for place in ("p", "t", "m.weight")} == {"direct"}
    assert one.converted == ()


def test_a_conversion_that_is_refused_at_once() -> None:
    """A conversion that came to no tensor counts as a call."""
    one = last_step(module(), (Convert("m", To("int64")),), NEW)

    assert one.path("m.weight") == "direct"


def test_a_path_that_was_taken_before_a_refusal() -> None:
    """A refused tensor is booked on the path that it was refused on."""
    heap = done(module(swap=True), TakeWeakref("ReferenceType", "m.weight", "r"))
    one = last_step(heap, (DOUBLE,), NEW)

    assert [event.tensor for event in one.converted] == [at(heap, "m.weight")]
    assert one.path("m.weight") == "swap"
    assert last_step(heap, (DOUBLE,), NO_SWAP).path("m.weight") == "data"


def test_operands() -> None:
    """An operand is known at its own place, or behind a tie at the one listed."""
    build = Builder()
    w = build.parameter()
    build.gradient(w, build.tensor())
    build.name("a", "tensor", w)
    build.name("m", "module", build.module({"weight": w}))
    one = last_step(build.heap(), (DOUBLE,), NEW)

    assert one.operand("m.weight") == ("m.weight", "parameter", w)
    assert (one.operand("m.weight.grad") or ())[:2] == ("a.grad", "gradient")
    assert one.operand("m") is None
    assert one.operand("nowhere") is None


# -- Memory ----------------------------------------------------------------------------


def test_what_is_remembered() -> None:
    """The answer for one of the last few heaps is not computed again."""
    asked: list[Heap] = []

    @remembered
    def names(heap: Heap) -> int:
        asked.append(heap)
        return len(heap.names)

    heaps = [module() for _ in range(REMEMBERED_HEAPS + 1)]
    for heap in (*heaps[:-1], *heaps[:-1]):
        assert names(heap) == 3
    assert len(asked) == REMEMBERED_HEAPS
    names(heaps[-1])
    names(heaps[0])
    assert len(asked) == REMEMBERED_HEAPS + 2


def test_remembered_by_identity() -> None:
    """Two heaps that are equal have the same places; each is asked for itself."""
    one, other = module(), module()

    assert placed(one) == placed(other) == tuple(placements(one))
    assert placed(one) is placed(one)


def test_the_operands_of_an_action() -> None:
    """Tensors alone, in the order of the action's fields."""
    swap = last_step(module(), (SwapTensors("t", "p"),), NEW)
    convert = last_step(module(), (Convert("m", Cast("float32")),), NEW)

    assert [place for place, _, _ in swap.operands()] == ["t", "p"]
    assert [*convert.operands()] == []
