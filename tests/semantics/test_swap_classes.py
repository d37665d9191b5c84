"""`swap_tensors` on classes that have slots."""

import pytest

from swapmodel.actions import Forward, SetAttribute, SwapTensors
from swapmodel.outcomes import Refusal
from swapmodel.search.enabled import enabled
from swapmodel.state.build import Builder
from swapmodel.state.heap import living
from tests.heaps import LATE, NEW, at, done, refused

SWAP = SwapTensors("p", "t")


@pytest.mark.parametrize("under", [LATE, NEW])
def test_slots_in_another_order(under: str) -> None:
    """Slots compare as sets; their values move, and what is unset becomes unset."""
    b = Builder()
    p = b.parameter(cls="SlottedParameter", slots={"x": 1, "y": 2})
    t = b.tensor(cls="ReorderedParameter", slots={"y": 3})
    b.name("p", "tensor", p)
    b.name("t", "tensor", t)
    heap = done(b.heap(), SWAP, under=under)

    assert (
        heap.tensor(p).cls,
        heap.tensor(p).slots,
    ) == ("ReorderedParameter", (("y", 3),))
    assert heap.tensor(t).slots == (("x", 1), ("y", 2))


def test_an_attribute_goes_into_its_slot() -> None:
    """`t.x = 1` sets the slot `x` of a class that has one, and is enabled once."""
    b = Builder()
    b.name("p", "tensor", b.parameter(cls="SlottedParameter", slots={"x": 2}))
    action = SetAttribute("p", "x", 1)
    heap = done(b.heap(), action, SetAttribute("p", "tag", 5))
    p = heap.tensor(at(heap, "p"))

    assert (p.slots, p.attributes) == ((("x", 1),), (("tag", 5),))
    assert [action] == list(enabled(b.heap(), [action]))
    assert list(enabled(heap, [action])) == []


def test_class_layout() -> None:
    """Equal slots of a parameter and of a tensor are refused, behind the poison."""
    b = Builder()
    b.name("p", "tensor", b.parameter(cls="SlottedParameter"))
    b.name("t", "tensor", b.tensor(cls="SlottedTensor"))
    heap = done(b.heap(), Forward("scale", "p", "y"))
    outcome = refused(heap, SWAP)

    facts = (("new", "SlottedTensor"), ("old", "SlottedParameter"))
    assert outcome.refusal == Refusal("swap/class-layout", "t1", facts)
    assert [node.poisoned for _, node in living(outcome.heap.nodes)].count(True) == 1
