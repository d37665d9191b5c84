"""Claims about conversions: what is promised of buffers and of inner tensors."""

from swapmodel.actions import Convert, TakeWeakref
from swapmodel.conversions import NoTensor, Other, ScaleInPlace
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import module
from tests.invariants.examples import violations


def buffers() -> Heap:
    """A module with two buffers and nothing else."""
    b = Builder()
    b.name("m", "module", b.module(buffers={"one": b.tensor(), "two": b.tensor()}))
    return b.heap()


def test_nothing_is_promised_of_what_a_function_chooses() -> None:
    """A buffer takes whatever comes: nothing, or what stands somewhere else."""
    assert violations("values", buffers(), Convert("m", NoTensor())) == []
    assert violations("values", buffers(), Convert("m", Other("m.one"))) == []


def test_a_registration_that_is_gone() -> None:
    """A buffer that became `None` refers to another object than before."""
    found = violations("identity", buffers(), Convert("m", NoTensor()))

    assert [(one.place, one.now) for one in found] == [
        ("m.one", "another"),
        ("m.two", "another"),
    ]


def test_a_buffer_is_promised_what_is_computed() -> None:
    """The function is applied once to a tensor that stands twice."""
    b = Builder()
    t = b.tensor((1, 2))
    b.name("m", "module", b.module(buffers={"one": t, "two": t}))
    found = violations("values", b.heap(), Convert("m", ScaleInPlace()))

    assert [(one.place, one.was, one.now) for one in found] == [
        ("m.one", "float32 [3, 6]", "float32 [1, 2]"),
        ("m.two", "float32 [3, 6]", "float32 [1, 2]"),
    ]


def test_a_wrapper_is_told_once() -> None:
    """A module that was left half converted is told by its own tensors alone."""
    start = module("TwoTensor", swap=True)
    program = (
        TakeWeakref("_WeakTensorRef", "m.weight", "r"),
        Convert("m", ScaleInPlace()),
    )
    found = violations("atomic-module", start, *program)

    assert {one.place for one in found} == {"m.weight"}
