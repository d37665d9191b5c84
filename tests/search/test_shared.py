"""Specs that a scope cannot tell apart share one search, and only those."""

from attrs import evolve

from swapmodel.actions import Cast, Convert, SwapTensors
from swapmodel.search.explore import explore
from swapmodel.search.scope import Scope
from swapmodel.search.shared import asked, explore_all
from tests.search.starts import SMALL, TRIED, spec

RELEASES = ("torch-2.1", "torch-2.3", "torch-2.4", "torch-2.13")


def test_shared_searches_find_the_same() -> None:
    """A scope explored for all specs at once shows what it shows for each alone."""
    scope = Scope(id="s", starts=SMALL[:2], actions=TRIED, depth=2)
    specs = [spec(release) for release in RELEASES]

    assert explore_all(scope, specs) == tuple(explore(scope, one) for one in specs)


def test_only_what_was_asked_counts() -> None:
    """A spec agrees with another that differs in what the search never asked for."""
    one = spec("torch-2.4")
    other = evolve(one, id="other", choices=())
    swap, convert = SwapTensors("m.weight", "t"), Convert("m", Cast("float64"))
    scope = Scope(id="s", starts=SMALL[:1], actions=(swap,), depth=1)
    watched = asked(one)
    explore(scope, watched)

    assert watched.answers(other)

    explore(evolve(scope, actions=(convert,)), watched)

    assert not watched.answers(other)


def test_a_stopped_search_is_not_shared() -> None:
    """What ran out of time has not asked everything, so that each spec is searched."""
    scope = Scope(id="s", starts=SMALL[:1], actions=TRIED, depth=2)
    specs = [evolve(spec("torch-2.4"), id=name) for name in ("one", "other")]
    depths: list[int] = []

    def watched(depth: int, heaps: int, transitions: int) -> None:
        depths.append(depth)

    found = explore_all(scope, specs, limit_seconds=0.0, progress=watched)

    assert [one.spec for one in found] == ["one", "other"]
    assert depths == [1, 1]
