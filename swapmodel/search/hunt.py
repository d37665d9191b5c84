"""
Which causes do long random programs show that nobody has listed yet?

A machine finds one and shrinks its program; a search over the actions of that program
makes it as short as it can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, Literal, TypeAlias

from attrs import evolve, frozen
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from swapmodel.actions import ACTIONS, Action
from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.invariants.violation import Cause, Invariant, Step, Violation
from swapmodel.run import Counterexample, find_cause
from swapmodel.search.machine import Broken, Starts, machine
from swapmodel.search.scope import Scope
from swapmodel.search.witness import witness
from swapmodel.semantics.spec import Spec
from swapmodel.state.heap import Heap
from swapmodel.state.holders import Flags

Profile: TypeAlias = Literal["dev", "ci", "nightly"]


@frozen
class Effort:
    """How many programs are drawn, and how long they get."""

    programs: int
    steps: int


EFFORTS: dict[Profile, Effort] = {
    "dev": Effort(100, 20),
    "ci": Effort(400, 30),
    "nightly": Effort(10_000, 40),
}

SCOPE = "hunt"
"""What stands for a scope in what a hunt finds."""


def hunt(
    spec: Spec,
    starts: Starts,
    known: Iterable[Cause],
    *,
    profile: Profile = "dev",
    invariants: tuple[Invariant, ...] = INVARIANTS,
    actions: tuple[type[Action], ...] = ACTIONS,
) -> Iterator[Counterexample]:
    """
    Yield a counterexample for each cause that is not *known*, until none is found.

    What was found once is known from then on.  Examples are kept in Hypothesis's
    database, except under the profile `ci`, which draws the same programs every time.
    """
    heaps, seen = dict(starts), set(known)
    tried = machine(
        spec, starts, invariants=invariants, known=seen.__contains__, actions=actions
    )
    while True:
        broken = _broken(tried, profile)
        if broken is None:
            return
        seen.add(broken.cause)
        yield shortened(
            Counterexample(
                spec.id,
                SCOPE,
                broken.start,
                heaps[broken.start],
                broken.program,
                broken.violation,
                broken.cause,
            ),
            spec,
            invariants,
        )


def _broken(tried: type[RuleBasedStateMachine], profile: Profile) -> Broken | None:
    effort = EFFORTS[profile]
    chosen: dict[str, Any] = (
        {"derandomize": True, "database": None} if profile == "ci" else {}
    )
    try:
        run_state_machine_as_test(
            tried,
            settings=settings(
                max_examples=effort.programs,
                stateful_step_count=effort.steps,
                deadline=None,
                report_multiple_bugs=False,
                print_blob=False,
                suppress_health_check=list(HealthCheck),
                **chosen,
            ),
        )
    except Broken as found:
        return found
    return None


def shortened(
    found: Counterexample, spec: Spec, invariants: tuple[Invariant, ...] = INVARIANTS
) -> Counterexample:
    """Make a counterexample as short as the actions of its program allow."""
    shown: list[Violation] = []

    def again(one: Step) -> bool:
        for invariant in invariants:
            if invariant.id == found.cause.invariant:
                for violation in invariant.check(one):
                    if find_cause(one, violation, invariant) == found.cause:
                        shown.append(violation)
                        return True
        return False

    actions = sorted(
        dict.fromkeys(found.program), key=lambda one: ACTIONS.index(type(one))
    )
    scope = Scope(
        id=found.scope,
        starts=((found.start, found.heap),),
        actions=tuple(actions),
        depth=len(found.program) - 1,
    )
    shorter = witness([scope], spec, again)
    if shorter is None:
        return found
    return evolve(found, program=shorter.program, violation=shown[-1])


def under_every_flag(starts: Iterable[tuple[str, Heap]]) -> Starts:
    """Every start heap under every setting of the flags, each once."""
    found: dict[Heap, str] = {}
    for name, heap in starts:
        for swap, overwrite in product((False, True), repeat=2):
            told = f"{name}{'-swap' * swap}{'-overwrite' * overwrite}"
            flags = Flags(swap=swap, overwrite=overwrite)
            found.setdefault(evolve(heap, flags=flags), told)
    return tuple((name, heap) for heap, name in found.items())
