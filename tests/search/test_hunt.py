"""A hunt finds what no claim lists, makes it short, and then knows it."""

from collections.abc import Iterable

import pytest
from attrs import evolve

from swapmodel.actions import (
    Cast,
    ClearGrad,
    Convert,
    FillGrad,
    RegisterHook,
    SetAttribute,
    SwapTensors,
)
from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.invariants.violation import Cause, Step
from swapmodel.run import Counterexample, find_cause, run
from swapmodel.search.explore import explore
from swapmodel.search.hunt import EFFORTS, Effort, hunt, shortened, under_every_flag
from swapmodel.search.scope import Scope
from swapmodel.state.holders import Flags
from tests.search.starts import SMALL, spec

NEWEST = "torch-2.13"


ACTIONS = (SwapTensors, RegisterHook, SetAttribute, Convert)

SWAP = ((SMALL[0][0], evolve(SMALL[0][1], flags=Flags(swap=True))),)


@pytest.fixture(autouse=True)
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few and short programs."""
    monkeypatch.setitem(EFFORTS, "ci", Effort(60, 5))


def hunted(known: Iterable[Cause] = ()) -> list[Cause]:
    """The causes that a short hunt finds on the swap path."""
    only = tuple(one for one in INVARIANTS if one.id in ("hooks", "attributes"))
    found = hunt(
        spec(NEWEST), SWAP, known, profile="ci", invariants=only, actions=ACTIONS
    )
    return [one.cause for one in found]


def test_each_cause_is_found_once() -> None:
    """What was found is known from then on, and the hunt ends."""
    causes = hunted()

    assert causes
    assert len(causes) == len(set(causes))


def test_what_is_known_is_not_found() -> None:
    """Nothing is new once everything that was found is listed."""
    assert hunted(hunted()) == []


def test_a_program_is_made_as_short_as_it_can_be() -> None:
    """Actions that do not matter are left out, and the violation is the new one's."""
    scope = Scope(
        id="s",
        starts=SWAP,
        actions=(SetAttribute("m.weight", "tag"), Convert("m", Cast("float64"))),
        depth=2,
    )
    short = explore(scope, spec(NEWEST)).counterexamples[0]
    padding = (FillGrad("t"), ClearGrad("t"), SetAttribute("t", "tag"))
    long = evolve(short, program=(*padding, *short.program))

    found = shortened(long, spec(NEWEST))

    assert found.program == short.program
    assert found.cause == short.cause
    assert _shows(found)


def test_a_program_that_is_short_already() -> None:
    """Nothing shorter is looked for below one action."""
    scope = Scope(
        id="s",
        starts=SMALL[:1],
        actions=(Convert("m", Cast("float64")),),
        depth=1,
    )
    for one in explore(scope, spec("torch-2.1")).counterexamples:
        assert shortened(one, spec("torch-2.1")) == one


def _shows(one: Counterexample) -> bool:
    """Whether the last action breaks the invariant for the same cause."""
    under = spec(one.spec)
    trace = run(one.heap, one.program, under)
    step = Step(trace.heaps[-2], one.program[-1], trace.outcomes[-1], under)  # type: ignore[arg-type]
    return any(
        find_cause(step, violation, invariant) == one.cause
        for invariant in INVARIANTS
        for violation in invariant.check(step)
    )


def test_every_setting_of_the_flags_once() -> None:
    """Two heaps that differ by a flag alone give four in all."""
    name, heap = SMALL[0]
    swapped = evolve(heap, flags=Flags(swap=True))

    found = under_every_flag([(name, heap), ("again", swapped)])

    assert [one for one, _ in found] == [
        name,
        f"{name}-overwrite",
        f"{name}-swap",
        f"{name}-swap-overwrite",
    ]
    assert len({other for _, other in found}) == 4
