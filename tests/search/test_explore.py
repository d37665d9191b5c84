"""The explorer finds each cause once, by a shortest program, and says how it ended."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from swapmodel.actions import (
    Action,
    Cast,
    ClearGrad,
    Convert,
    Drop,
    Forward,
    RegisterHook,
    SetData,
    TakeWeakref,
    View,
    Write,
)
from swapmodel.invariants.violation import Invariant, Step, Violation
from swapmodel.search.explore import Search, explore
from swapmodel.search.scope import Scope
from tests.heaps import done, module
from tests.search.starts import SMALL, TRIED, spec


def no_third_name(step: Step) -> Iterator[Violation]:
    """A made-up claim: there are no three variables besides the two at the start."""
    if len(step.then.names) == 5 != len(step.before.names):
        yield Violation("three", "m.weight", "parameter", "direct", "2", "3")


def scope(depth: int, *actions: Action, start: int = 0) -> Scope:
    """A scope with one of the small start heaps."""
    return Scope(id="s", starts=SMALL[start : start + 1], actions=actions, depth=depth)


NAMING = (
    ClearGrad("m.weight"),
    View("m.weight", "v"),
    View("t", "u"),
    Forward("scale", "m.weight", "y"),
    Drop("v"),
)
MADE_UP = (Invariant("three", "heap", no_third_name),)


def test_shortest_program_is_found_once() -> None:
    """One cause has one counterexample, the first of the shortest programs."""
    found = explore(scope(4, *NAMING), spec("torch-2.4"), invariants=MADE_UP)

    one = found.counterexamples[0]
    causes = [other.cause for other in found.counterexamples]
    assert (NAMING[1], NAMING[2], NAMING[3]) == one.program
    assert [3] * len(causes) == [len(other.program) for other in found.counterexamples]
    assert len(set(causes)) == len(causes)
    assert ("torch-2.4", "s", SMALL[0][0]) == (one.spec, one.scope, one.start)
    assert SMALL[0][1] == one.heap
    assert found.complete


def test_depth_bounds_programs() -> None:
    """No program longer than the depth of the scope is tried."""
    found = explore(scope(2, *NAMING), spec("torch-2.4"), invariants=MADE_UP)

    assert found.counterexamples == ()
    assert found.depth == 2
    assert found.complete


def test_a_scope_is_searched_to_its_end() -> None:
    """A scope with few heaps ends before its depth does."""
    found = explore(scope(99, *NAMING), spec("torch-2.4"), invariants=())

    assert found.heaps == 20
    assert found.depth < 99


def test_program_replays() -> None:
    """The links from every heap lead to a program that leads to that heap."""
    search = Search(scope(3, *TRIED), spec("torch-2.4"), ())
    search.run()
    lengths = [len(search.program(n)[1]) for n in range(len(search.parents))]

    assert sorted(lengths) == lengths
    assert lengths[-1] == 3


def test_goals_are_counted() -> None:
    """The rules that refused and the paths that were taken are reported."""
    ref = TakeWeakref("ReferenceType", "m.weight", "r")
    actions = (ref, Convert("m", Cast("float64")), SetData("m.weight", "t"))
    data = explore(scope(2, *actions), spec("torch-2.4"), invariants=())
    swap = explore(scope(2, *actions, start=3), spec("torch-2.4"), invariants=())

    assert (data.paths, data.rules) == (("data", "direct"), ())
    assert swap.paths == ("direct", "swap")
    assert swap.rules == ("convert/could-not-swap", "swap/no-weakrefs")


def test_what_the_model_declines_is_counted() -> None:
    """An action that the model has no answer for ends no search."""
    found = explore(scope(1, *TRIED), spec("torch-2.1"), invariants=())

    assert found.unmodelled == (("torch-2.1 has no swap_tensors", 1),)


def test_nothing_is_tried_behind_a_crash() -> None:
    """A heap that torch would not have left is no heap of the search."""
    start = done(module(), View("p", "v"), Write("p"))
    crash = RegisterHook("v", "h")
    one = Scope(id="crash", starts=(("stale", start),), actions=(crash,), depth=3)
    found = explore(one, spec("torch-2.13"), invariants=())

    assert (found.heaps, found.transitions) == (1, 1)


def test_limit_leaves_it_undecided() -> None:
    """A search that ran out of time is not complete and keeps what it found."""
    found = explore(
        scope(9, *TRIED), spec("torch-2.4"), invariants=(), limit_seconds=0.0
    )

    assert found.stopped == "limit"
    assert not found.complete
    assert found.heaps == 1


def test_interrupt_keeps_what_was_found() -> None:
    """Ctrl-C ends the search and keeps its counterexamples."""

    def interrupted(depth: int, heaps: int, transitions: int) -> None:
        if depth == 4:
            raise KeyboardInterrupt

    found = explore(
        scope(9, *NAMING),
        spec("torch-2.4"),
        invariants=MADE_UP,
        progress=interrupted,
    )

    assert found.stopped == "interrupt"
    assert found.counterexamples


@pytest.mark.parametrize("release", ["torch-2.1", "torch-2.4"])
def test_same_result_in_every_process(release: str) -> None:
    """What is found does not depend on the seed of Python's hashes."""
    program = (
        "from attrs import evolve;"
        "from tests.search.test_explore import *;"
        "s = evolve(scope(2, *TRIED), starts=SMALL);"
        f"print(explore(s, spec('{release}')))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(found) == 1
    assert "Counterexample(" in found.pop()
