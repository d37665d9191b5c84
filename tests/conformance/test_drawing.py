"""Programs at random hold everything that is declared, without a list of it."""

from collections import Counter
from functools import cache
from typing import Any, get_args

import pytest

torch = pytest.importorskip("torch")

from swapmodel.actions import ACTIONS, Convert, TakeWeakref  # noqa: E402
from swapmodel.conformance import perform, programs  # noqa: E402
from swapmodel.conformance.areas import AREAS  # noqa: E402
from swapmodel.conformance.starts import exhaustive_scopes  # noqa: E402
from swapmodel.conformance.starts_at_random import (  # noqa: E402
    NOT_STARTED,
    starts_at_random,
)
from swapmodel.conversions import ConversionFn  # noqa: E402
from swapmodel.state.classes import CLASSES  # noqa: E402
from swapmodel.state.heap import living  # noqa: E402
from swapmodel.state.keepers import KEEPERS  # noqa: E402
from tests.heaps import NEW, spec  # noqa: E402

pytestmark = [pytest.mark.torch]

BY_HAND = {"Convert", "Drop", "RegisterHook", "TakeWeakref"}
"""What `perform` does in its own body."""


@cache
def drawn() -> tuple[Any, ...]:
    """The actions of the first programs."""
    starts = starts_at_random()
    return tuple(
        action
        for seed in range(600)
        for action in programs.draw(starts, 15, seed, spec(NEW))[1]
    )


def test_the_same_seed_draws_the_same_program() -> None:
    """A seed names a start and a program."""
    starts = starts_at_random()

    assert programs.draw(starts, 15, 7, spec(NEW)) == programs.draw(
        starts, 15, 7, spec(NEW)
    )
    assert programs.draw(starts, 15, 7, spec(NEW)) != programs.draw(
        starts, 15, 8, spec(NEW)
    )


def test_every_kind_of_action_is_drawn() -> None:
    """A kind that is declared is drawn, and in lockstep."""
    assert set(ACTIONS) == {type(one) for one in drawn()}


def test_every_function_and_keeper_is_drawn() -> None:
    """Of the functions of a conversion and of what keeps weak references, too."""
    functions = {type(one.fn) for one in drawn() if isinstance(one, Convert)}
    keepers = {one.type for one in drawn() if isinstance(one, TakeWeakref)}

    assert set(get_args(ConversionFn)) == functions
    assert set(KEEPERS) == keepers


def test_every_class_is_in_a_start() -> None:
    """But the one that can only be declined, which is named with its reason."""
    heaps = [heap for _, heap in starts_at_random()]
    held = {t.cls for heap in heaps for _, t in living(heap.tensors)}
    flags = {(heap.flags.swap, heap.flags.overwrite) for heap in heaps}

    assert set(CLASSES) - set(NOT_STARTED) == held
    assert len(flags) == 4


def test_every_kind_of_action_is_performed_and_in_a_scope() -> None:
    """An action needs a performer, and an area that tries all of its programs."""
    performed = {one.__name__ for one in perform._PERFORMERS} | BY_HAND
    scopes = [*exhaustive_scopes(1), *(s for area in AREAS.values() for s in area())]
    tried = Counter(type(one).__name__ for s in scopes for one in s.actions)
    kinds = {one.__name__ for one in ACTIONS}

    assert performed == kinds
    assert set(tried) == kinds


def test_drawn_programs_do_not_diverge() -> None:
    """Four dozen programs on the larger heaps."""
    tally = programs.run_drawn(starts_at_random(), 15, range(48), spec(NEW))

    assert (tally.programs, tally.diverging) == (48, 0)
    assert tally.actions > 48 * 4
