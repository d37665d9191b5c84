"""Adam: what it makes, counts and refuses; its values are open."""

import pytest

from swapmodel.actions import (
    Action,
    Cast,
    CastData,
    Convert,
    MakeOptimizer,
    OptimizerStep,
    Register,
    SetData,
    SetGrad,
    SwapTensors,
    TakeWeakref,
)
from swapmodel.outcomes import OutOfScope, Undefined
from swapmodel.semantics.places import resolve
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import NEW, at, done, module, refused, spec, values

STEP, DOUBLE = OptimizerStep("o"), Convert("m", Cast("float64"))
COUNT, AVERAGE, SQUARES = (
    f"o.state[0].{it}" for it in ("step", "exp_avg", "exp_avg_sq")
)


def made(cls: str = "Parameter", *program: Action) -> Heap:
    """A module with a gradient of ones, Adam of it, and what a program makes of it."""
    return done(module(cls), MakeOptimizer("Adam", "m", "o"), *program)


def torn(heap: Heap, place: str) -> Heap:
    """A heap in which a swap has failed after the class of a wrapper had moved."""
    heap = done(heap, TakeWeakref("_WeakTensorRef", place, "r"))
    return refused(heap, SwapTensors(place, "t")).heap


def declines(heap: Heap) -> None:
    """A step is out of scope."""
    assert isinstance(step(heap, STEP, spec(NEW)), OutOfScope)


def test_values_are_open() -> None:
    """Counters are exact, averages and parameters are not told."""
    heap = made("Parameter", STEP, STEP)

    assert values(heap, COUNT) == (2,)
    assert values(heap, "m.weight") is None
    assert values(heap, AVERAGE) is None


def test_writes_are_counted() -> None:
    """The squares are written twice, all else once; a step later, twice as often."""
    heap = made("Parameter", STEP)
    places = (COUNT, AVERAGE, SQUARES, "m.weight")

    for number, one in ((1, heap), (2, done(heap, STEP))):
        counted = [one.version(one.impl_of(at(one, place)).counter) for place in places]
        assert counted == [number, number, 2 * number, number]


def test_a_wrapper() -> None:
    """Its averages are wrappers too; of another dtype the model declines."""
    heap = made("TwoTensor", STEP)

    assert values(heap, f"{AVERAGE}.b") is None
    declines(done(heap, DOUBLE))


def test_refuses_after_a_cast() -> None:
    """The counter has counted by then."""
    outcome = refused(made("Parameter", STEP, DOUBLE), STEP)

    assert outcome.rule == "optimizer/state-dtype"
    assert outcome.refusal.facts == (("dtype", "float64"), ("expected", "float32"))
    assert values(outcome.heap, COUNT) == (2,)


def test_state_is_made_for_all_before_anything_is_updated() -> None:
    """The second parameter has its state when the first one's step is refused."""
    b = Builder()
    one, two = b.parameter(), b.parameter((3, 4))
    for t in (one, two):
        b.gradient(t, b.tensor((1, 1)))
    b.name("m", "module", b.module({"one": one}))
    b.name("p", "tensor", two)
    start = done(b.heap(), Register("m", "two", "p"), MakeOptimizer("Adam", "m", "o"))
    late = done(start, SetGrad("m.two", "m.one.grad"), STEP, DOUBLE)
    outcome = refused(late, STEP)

    assert outcome.rule == "optimizer/state-dtype"
    assert values(outcome.heap, COUNT) == (2,)
    assert values(outcome.heap, "o.state[1].step") == (1,)


def test_averages_that_cannot_be_made() -> None:
    """The counter that was made before stays, and the next step misses the rest."""
    first = refused(torn(made("TwoTensor"), "m.weight"), STEP)
    second = refused(first.heap, STEP)

    assert first.rule == "dispatch/no-handler"
    assert values(first.heap, COUNT) == (0,)
    assert resolve(first.heap, AVERAGE) is None
    assert (second.rule, second.refusal.operand) == (
        "optimizer/state-missing",
        "exp_avg",
    )


@pytest.mark.parametrize(
    ("place", "writes"),
    [(AVERAGE, (1, 2)), (SQUARES, (2, 2)), ("m.weight", (2, 4))],
)
def test_what_is_torn_is_refused_when_its_turn_comes(
    place: str, writes: tuple[int, int]
) -> None:
    """What is written before it has been written."""
    outcome = refused(torn(made("TwoTensor", STEP), place), STEP)
    heap = outcome.heap
    impls = [heap.impl_of(at(heap, one)) for one in (AVERAGE, SQUARES)]

    assert outcome.rule == "dispatch/no-handler"
    assert values(heap, COUNT) == (2,)
    assert tuple(heap.version(impl.counter) for impl in impls) == writes


def test_a_torn_gradient() -> None:
    """It is read after the counter has counted."""
    heap = done(torn(made("TwoTensor", STEP), "p"), SetGrad("m.weight", "p"))
    outcome = refused(heap, STEP)

    assert outcome.rule == "dispatch/no-handler"
    assert values(outcome.heap, COUNT) == (2,)


def test_a_counter_over_nothing() -> None:
    """Counting reads it."""
    heap = done(made("TwoTensor", STEP), SetData(COUNT, "p"))

    assert isinstance(step(heap, STEP, spec(NEW)), Undefined)


@pytest.mark.parametrize(
    "action",
    [
        SwapTensors(COUNT, "p"),
        SetData(COUNT, "t"),
        SwapTensors(AVERAGE, "t"),
        SwapTensors(SQUARES, "t"),
        CastData(f"{SQUARES}.a", "int64"),
        CastData(f"{AVERAGE}.b", "float16"),
        SetData(f"{AVERAGE}.a", COUNT),
        SetData(f"{SQUARES}.b", COUNT),
        SetData("m.weight.b", COUNT),
    ],
)
def test_state_that_somebody_has_changed(action: Action) -> None:
    """Another class, size or dtype than the step made: the model declines."""
    declines(done(made("TwoTensor", STEP), action))
