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
    View,
)
from swapmodel.conversions import Other
from swapmodel.outcomes import OutOfScope
from swapmodel.semantics.places import resolve
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import NEW, at, done, module, refused, spec, values, with_row

STEP, DOUBLE = OptimizerStep("o"), Convert("m", Cast("float64"))
COUNT, AVERAGE, SQUARES = (
    f"o.state[0][0].{it}" for it in ("step", "exp_avg", "exp_avg_sq")
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
    """Its averages are wrappers too, and refuse another dtype."""
    heap = made("TwoTensor", STEP)

    assert values(heap, f"{AVERAGE}.b") is None
    assert refused(done(heap, DOUBLE), STEP).rule == "optimizer/state-dtype"


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
    assert values(outcome.heap, "o.state[0][1].step") == (1,)


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


@pytest.mark.parametrize(
    "action",
    [
        SwapTensors(AVERAGE, "other"),
        SwapTensors(SQUARES, "lazy"),
        CastData(f"{SQUARES}.a", "int64"),
        CastData(f"{AVERAGE}.b", "float16"),
        CastData(f"{AVERAGE}.b", "int64"),
    ],
)
def test_state_that_somebody_has_changed(action: Action) -> None:
    """Another class, device or dtype than the step made: the model declines."""
    b = Builder()
    w = b.parameter(cls="TwoTensor")
    b.gradient(w, b.tensor((1, 1), cls="TwoTensor"))
    b.name("m", "module", b.module({"weight": w}))
    b.name("other", "tensor", b.tensor(cls="OpaqueTensor"))
    b.name("lazy", "tensor", b.parameter((), cls="UninitializedParameter"))
    heap = done(b.heap(), MakeOptimizer("Adam", "m", "o"), STEP)

    declines(done(heap, action))


def test_averages_on_another_device() -> None:
    """How torch refuses them is not told."""
    heap = made("Parameter", STEP)
    impl = heap.tensor(at(heap, AVERAGE)).impl

    declines(with_row(heap, "impls", impl, device="meta"))


def test_the_counter_stays_where_it_is() -> None:
    """It has no dimension, as nothing else has: nothing is done with it."""
    heap = made("Parameter", STEP)

    for action in (SetData("p", COUNT), SwapTensors(COUNT, "t"), View(COUNT, "v")):
        assert isinstance(step(heap, action, spec(NEW)), OutOfScope)
    taken = Convert("m", Other(COUNT))
    assert isinstance(step(heap, taken, spec(NEW)), OutOfScope)


def test_integers() -> None:
    """They are not averaged, and of two kinds none fits the other."""
    b = Builder()
    w = b.parameter(dtype="int64", requires_grad=False)
    b.gradient(w, b.tensor((1, 1), dtype="int64"))
    b.name("m", "module", b.module({"weight": w}))
    outcome = refused(done(b.heap(), MakeOptimizer("Adam", "m", "o")), STEP)

    assert outcome.rule == "optimizer/integers"
    assert outcome.refusal.facts == (("dtype", "int64"),)
    assert values(outcome.heap, COUNT) == (1,)


def test_a_gradient_that_is_too_large() -> None:
    """The averages refuse it by its size."""
    b = Builder()
    w = b.parameter((1,))
    b.gradient(w, b.tensor((1, 1)))
    b.name("m", "module", b.module({"weight": w}))
    outcome = refused(done(b.heap(), MakeOptimizer("Adam", "m", "o")), STEP)

    assert outcome.rule == "add/size"


def test_wrappers_and_plain_tensors() -> None:
    """Each takes the other one in; a clash at the first pair leaves all as it was."""
    heap = done(made("TwoTensor"), SetGrad("m.weight", "t"), STEP, STEP)
    assert values(heap, f"{AVERAGE}.a") is None
    heap = done(made(), SetData("m.weight.grad", "t"), STEP)
    assert resolve(heap, f"{AVERAGE}.a") is None
    heap = done(made("TwoTensor", STEP), CastData(f"{AVERAGE}.a", "float64"))
    assert refused(heap, STEP).rule == "optimizer/state-dtype"


def test_classes() -> None:
    """Averages are of the class that converts results; a lazy one stops the step."""
    heap = made("SubTensor", STEP)
    assert heap.tensor(at(heap, AVERAGE)).cls == "SubTensor"
    b = Builder()
    lazy = b.parameter((), cls="UninitializedParameter")
    b.gradient(lazy, b.tensor(()))
    b.name("m", "module", b.module({"weight": lazy}))
    outcome = refused(done(b.heap(), MakeOptimizer("Adam", "m", "o")), STEP)

    assert outcome.rule == "class/uninitialized"
    assert not outcome.heap.optimizers[0].state
    lazy_grad = with_row(made(), "tensors", grad(made()), cls="UninitializedParameter")
    outcome = refused(lazy_grad, STEP)
    assert outcome.rule == "class/uninitialized"
    assert values(outcome.heap, COUNT) == (1,)


def grad(heap: Heap) -> int:
    """Where the gradient stands."""
    return at(heap, "m.weight.grad")
