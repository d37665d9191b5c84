"""The object-swap scope has as many heaps as two independent searches count."""

import pytest

from bench import object_swap
from bench.object_swap import How
from swapmodel.search.explore import explore
from swapmodel.specfiles.scopes import load_scope
from tests.search.starts import spec

PINNED: dict[tuple[int, How], int] = {
    (2, "convert"): 128,
    (2, "cast_data"): 288,
    (3, "convert"): 3_072,
    (3, "cast_data"): 10_368,
}
"""The permutations of the values, times what one tensor and its gradient can be."""


@pytest.mark.parametrize("swap", [False, True], ids=["data", "swap"])
@pytest.mark.parametrize(
    ("tensors", "how"), [one for one in PINNED if one != (3, "cast_data")]
)
def test_pinned_counts(tensors: int, how: How, swap: bool) -> None:
    """The search to the end finds exactly the pinned number of heaps."""
    scope = object_swap.scope(tensors, how, swap=swap)
    found = explore(scope, spec("torch-2.4"), invariants=())

    assert PINNED[tensors, how] == found.heaps
    assert found.depth < scope.depth


@pytest.mark.parametrize("name", ["object-swap-3", "object-swap-3-data"])
def test_scope_files_pin_the_same(name: str) -> None:
    """The scopes of `make check` pin the counts of the scopes made here."""
    how: How = "cast_data" if name.endswith("data") else "convert"

    assert {PINNED[3, how]} == {count for _, count in load_scope(name).pinned}


def test_pinned_count_behind_the_back() -> None:
    """With `.data =` as the cast, a gradient's dtype is free of its tensor's."""
    found = explore(object_swap.scope(3, "cast_data"), spec("torch-2.4"), invariants=())

    assert PINNED[3, "cast_data"] == found.heaps


@pytest.mark.parametrize(("tensors", "how"), PINNED)
def test_minicheck_counts_the_same(tensors: int, how: How) -> None:
    """A model written from the scope's description has as many states."""
    pytest.importorskip("minicheck", reason="minicheck is not installed")
    from bench import minicheck_model

    counted = minicheck_model.count(tensors, gradient_is_cast=how == "convert")

    assert PINNED[tensors, how] == counted
