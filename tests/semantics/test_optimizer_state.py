"""State of optimizers: by object, and what can be added to it."""

import pytest

from swapmodel.actions import MakeOptimizer
from swapmodel.semantics.optimizer_state import (
    entry_of,
    fits,
    held_by,
    keep,
)
from swapmodel.semantics.payloads import Dense, Payload, Wrapped
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.ids import OptimizerId
from swapmodel.state.optimizers import StateEntry
from tests.heaps import done

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
        (TWO, INTEGERS, False),
        (INTEGERS, TWO, False),
        (TWO, META, False),
        (TWO, Dense("float32", "cpu", 0, ()), False),
        (TWO, wrapped(TWO, ONE), True),
        (ONE, wrapped(ONE, TWO), False),
        (wrapped(TWO, TWO), TWO, True),
        (wrapped(TWO, ONE), TWO, False),
        (wrapped(TWO, TWO), wrapped(TWO, ONE), True),
        (wrapped(TWO, ONE), wrapped(TWO, TWO), False),
        (wrapped(TWO, TWO), wrapped(TWO, TWO, "OpaqueTensor"), False),
    ],
)
def test_what_fits(before: Payload, update: Payload, expected: bool) -> None:
    """A write in place keeps size and device, and wrappers meet part by part."""
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
