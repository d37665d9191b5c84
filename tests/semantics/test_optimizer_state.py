"""State of optimizers: by object, and what can be added to it."""

import pytest

from swapmodel.actions import Action, CastData, MakeOptimizer, OptimizerStep, SetData
from swapmodel.outcomes import OutOfScope
from swapmodel.semantics.optimizer_state import (
    entry_of,
    fits,
    gradient_of,
    held_by,
    keep,
)
from swapmodel.semantics.payloads import Dense, Payload, Wrapped
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.ids import OptimizerId, TensorId
from swapmodel.state.optimizers import StateEntry
from tests.heaps import NEW, at, done, module, spec

ONE, TWO = Dense("float32", "cpu", 1, (1,)), Dense("float32", "cpu", 2, (1, 2))
HALVES, INTEGERS = Dense("float16", "cpu", 2, (1, 2)), Dense("int64", "cpu", 2, (1, 2))
META = Dense("float32", "meta", 2, None)


def wrapped(one: Payload, other: Payload, cls: str = "TwoTensor") -> Wrapped:
    """What a wrapper holds."""
    return Wrapped(cls, (("a", one), ("b", other)))


@pytest.mark.parametrize(
    ("before", "update", "expected"),
    [
        (TWO, TWO, True),
        (TWO, ONE, True),
        (ONE, TWO, False),
        (HALVES, TWO, True),
        (TWO, INTEGERS, True),
        (INTEGERS, TWO, False),
        (TWO, META, False),
        (TWO, wrapped(TWO, TWO), False),
        (wrapped(TWO, TWO), TWO, False),
        (wrapped(TWO, TWO), wrapped(TWO, ONE), True),
        (wrapped(TWO, ONE), wrapped(TWO, TWO), False),
        (wrapped(TWO, TWO), wrapped(TWO, TWO, "OpaqueTensor"), False),
    ],
)
def test_what_fits(before: Payload, update: Payload, expected: bool) -> None:
    """An addition in place keeps size, device and class, and integers stay such."""
    assert fits(before, update) is expected


def test_entries() -> None:
    """Made empty when they are first asked for, kept in that order, found by object."""
    b = Builder()
    p, q, held = b.parameter(), b.parameter(), b.tensor()
    b.name("m", "module", b.module({"p": p, "q": q}))
    b.name("t", "tensor", held)
    draft = Draft(done(b.heap(), MakeOptimizer("SGD", "m", "o")))
    o = OptimizerId(0)

    assert entry_of(draft, o, q) == entry_of(draft, o, p) == ()
    keep(draft, o, p, (("buffer", held),))
    assert draft.optimizer(o).state == (
        StateEntry(parameter=q),
        StateEntry(parameter=p, tensors=(("buffer", held),)),
    )
    assert entry_of(draft, o, p) == (("buffer", held),)
    assert held_by(draft, o, p, "buffer") == held
    assert held_by(draft, o, p, "other") is held_by(draft, o, q, "buffer") is None


def test_the_gradient_is_read() -> None:
    """As an operation reads it that computes with it."""
    heap = module()

    assert gradient_of(Draft(heap), at(heap, "m.weight")) == Dense(
        "float32", "cpu", 2, (1, 1)
    )
    with pytest.raises(AssertionError):
        gradient_of(Draft(heap), TensorId(at(heap, "t")))


BUFFER = "o.state[0].momentum_buffer"


@pytest.mark.parametrize(
    "action",
    [
        CastData(f"{BUFFER}.a", "int64"),
        CastData("m.weight.b", "int64"),
        SetData("m.weight.a", "one"),
        SetData(f"{BUFFER}.b", "one"),
    ],
)
def test_sums_that_do_not_fit(action: Action) -> None:
    """Torch refuses to add in place; the model declines."""
    b = Builder()
    w = b.parameter(cls="TwoTensor")
    b.gradient(w, b.tensor((1, 1), cls="TwoTensor"))
    b.name("m", "module", b.module({"weight": w}))
    b.name("one", "tensor", b.tensor((5,)))
    heap = done(b.heap(), MakeOptimizer("SGD-momentum", "m", "o"), OptimizerStep("o"))

    assert isinstance(
        step(done(heap, action), OptimizerStep("o"), spec(NEW)), OutOfScope
    )
