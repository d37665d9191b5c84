"""Writes that no counter shows, and reads of memory that is not there."""

import pytest

from swapmodel.actions import (
    Action,
    CastData,
    ClearGrad,
    Convert,
    Deepcopy,
    Detach,
    FillGrad,
    NameTensor,
    SetAttribute,
    SetData,
    SwapTensors,
    View,
    Write,
)
from swapmodel.conversions import ByRole, Cast, ScaleInPlace
from swapmodel.invariants.of_memory import memory_safe, without_memory
from swapmodel.invariants.violation import Step
from swapmodel.outcomes import Done, Undefined
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import NEW, at, done, module, spec, with_row
from tests.invariants.examples import violations

# -- Writes ----------------------------------------------------------------------------

SWAP_INNER = SwapTensors("m.weight", "a")

SHARED = done(module(), SetData("p", "t"))
"""`p` has a counter of its own over the memory of `t`."""


@pytest.mark.parametrize(
    ("heap", "action", "places"),
    [
        (SHARED, Write("t"), ["p"]),
        (SHARED, Write("p"), ["t"]),
        (done(module(), View("t", "v")), Write("t"), []),
        (done(module(), Detach("p", "d")), Write("d"), []),
        (SHARED, FillGrad("p"), []),
        (SHARED, SetAttribute("p", "tag"), []),
        (SHARED, ClearGrad("m.weight"), []),
        (module(), Convert("m", ScaleInPlace()), []),
        (module(), Convert("m", ByRole(ScaleInPlace(), Cast("float64"))), []),
        (module(swap=True), Convert("m", ScaleInPlace()), []),
        (module(overwrite=True), Convert("m", ScaleInPlace()), []),
        (SHARED, CastData("p", "float64"), []),
    ],
)
def test_whose_counter_stands_still(
    heap: Heap, action: Action, places: list[str]
) -> None:
    """A tensor that shares memory and no counter is told; others are not."""
    assert [one.place for one in violations("version", heap, action)] == places


def test_the_inner_tensors_of_a_wrapper() -> None:
    """The handler of a wrapper writes below the layer that counts."""
    found = violations("version", module("TwoTensor"), Write("p"))

    assert [one.place for one in found] == ["p.a", "p.b"]


def test_a_wrapper_that_holds_itself() -> None:
    """A write to what it lost is none of its own."""
    heap = done(module("TwoTensor"), NameTensor("m.weight.a", "a"), SWAP_INNER)

    assert violations("version", heap, Write("m.weight")) == []
    assert violations("version", heap, Write("t")) == []


def test_what_is_promised() -> None:
    """The value that was there, as long as the counter says the same."""
    (found,) = violations("version", SHARED, Write("t"))

    assert found.was == "p holds float32 [5, 6] as long as its version is the same"
    assert found.now == "float32 [6, 7]"


# -- Reads -----------------------------------------------------------------------------

WRAPPER = module("TwoTensor")


def test_a_plain_tensor_over_no_memory() -> None:
    """`t.data = wrapper` takes the null storage, and every forward reads it."""
    (found,) = violations("memory-safe", WRAPPER, SetData("t", "p"))

    assert (found.place, found.path) == ("t", "direct")
    assert found.now == "there is none"
    assert len(found.probe) == 1


def test_it_is_told_once() -> None:
    """What was without memory before the step is no fault of it."""
    heap = done(WRAPPER, SetData("t", "p"))

    assert [place for place, _, _ in without_memory(heap)] == ["t"]
    assert violations("memory-safe", heap, FillGrad("p")) == []
    assert violations("memory-safe", heap, NameTensor("t", "a")) == []
    assert violations("memory-safe", heap, View("t", "v")) == []


def test_a_second_tensor_over_no_memory() -> None:
    """A fault that was there hides no other."""
    heap = done(WRAPPER, NameTensor("t", "a"), Deepcopy("t", "c"), SetData("t", "p"))

    (found,) = violations("memory-safe", heap, SetData("c", "p"))

    assert found.place == "c"


def test_what_the_model_cannot_ask() -> None:
    """Where the probe is out of scope, nothing is said."""
    build = Builder()
    build.name("f", "tensor", build.tensor(cls="FakeTensor"))
    before = build.heap()
    then = with_row(before, "impls", before.tensor(at(before, "f")).impl, storage=None)
    step = Step(before, FillGrad("f"), Done(then), spec(NEW))

    assert [*memory_safe(step)] == []


def test_a_made_up_crash() -> None:
    """An outcome that is undefined out of the blue is told of the first operand."""
    heap = module()
    why = "a null storage is read"
    step = Step(heap, SwapTensors("p", "t"), Undefined(heap, why), spec(NEW))

    (found,) = memory_safe(step)

    assert (found.place, found.kind, found.path) == ("p", "variable", "direct")
    assert found.now == why
