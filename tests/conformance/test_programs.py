"""Programs: which are run, how they are counted, and what a divergence comes to."""

from collections import Counter

import pytest

torch = pytest.importorskip("torch")

from swapmodel.actions import (  # noqa: E402
    Action,
    SwapTensors,
    View,
    Write,
)
from swapmodel.conformance.programs import (  # noqa: E402
    Tally,
    first_actions,
    walk,
)
from swapmodel.search.scope import Scope  # noqa: E402
from tests.heaps import LATE, NEW, module, spec  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:The .grad attribute"),
]

ACTIONS: tuple[Action, ...] = (Write("t"), View("p", "v"), SwapTensors("p", "t"))


def scope(*actions: Action, depth: int = 2) -> Scope:
    """A scope with one start."""
    starts = (("module", module()),)
    return Scope(id="s", starts=starts, actions=actions or ACTIONS, depth=depth)


def test_every_program_is_run() -> None:
    """Each first action is a job, which goes on as long as the scope is deep."""
    one = scope()
    jobs = first_actions(one, 0)
    tallies = [walk(one, 0, first, spec(NEW)) for first in jobs]

    assert jobs == list(ACTIONS)
    # A view is named once, so that it is not made again behind itself.
    assert [tally.programs for tally in tallies] == [4, 3, 4]
    assert [tally.actions for tally in tallies] == [7, 5, 7]
    assert not any(tally.diverging for tally in tallies)


def test_a_wrong_spec_diverges() -> None:
    """A viewed tensor is refused late in 2.3; behind that nothing is run."""
    tally = walk(scope(depth=3), 0, View("p", "v"), spec(LATE))

    assert tally.diverging > 0
    assert {found.program[-1] for _, found in tally.kept} == {SwapTensors("p", "t")}


def test_tallies_add_up() -> None:
    """What was kept is kept, what was declined is counted by its reason."""
    whole = Tally(programs=1, unmodelled=Counter(why=1))
    whole.add(Tally(programs=2, actions=3, diverging=4, undefined=5))
    whole.add(Tally(unmodelled=Counter(why=2, other=1)))

    assert (whole.programs, whole.actions) == (3, 3)
    assert (whole.diverging, whole.undefined) == (4, 5)
    assert whole.unmodelled == {"why": 3, "other": 1}
