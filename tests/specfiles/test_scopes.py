"""A scope is start heaps, actions in the order of the contract, and bounds."""

from pathlib import Path

import pytest
from attrs import evolve

from swapmodel.actions import ACTIONS, SwapTensors
from swapmodel.search.explore import explore
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.read import load_spec, spec_ids
from swapmodel.specfiles.scopes import load_scope, scope_ids, scope_specs, scopes_of
from tests.specfiles.mine import Change, changed, said

PLAIN = (specs_folder() / "scopes" / "skeleton-plain.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", scope_ids())
def test_every_scope_loads(name: str) -> None:
    """Its actions come by kind, each once, and its specs are there."""
    scope = load_scope(name)
    kinds = [ACTIONS.index(type(one)) for one in scope.actions]

    assert scope.id == name
    assert kinds == sorted(kinds)
    assert len(set(scope.actions)) == len(scope.actions)
    assert set(scope_specs(name)) <= set(spec_ids())
    assert {one for one, _ in scope.pinned} <= set(scope_specs(name))


def test_sets() -> None:
    """Nightly searches everything, the standard set all but the long ones."""
    assert scopes_of("nightly") == scope_ids()
    assert set(scope_ids()) - set(scopes_of("standard")) == {"object-swap-3-data"}
    assert "unknown set of scopes" in said(lambda: scopes_of("weekly"))


def test_the_pairs_of_the_object_swap() -> None:
    """Each pair of the three is swapped in one order."""
    pairs = [
        {one.t1, one.t2}
        for one in load_scope("object-swap-3").actions
        if isinstance(one, SwapTensors)
    ]

    assert sorted(map(sorted, pairs)) == [
        ["m0.w", "m1.w"],
        ["m0.w", "m2.w"],
        ["m1.w", "m2.w"],
    ]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("depth = 4", "depth = 0"), "0 is no depth @ {file}:depth, write 1 or more"),
        (("depth = 4", ""), "'depth' is missing @ {file}, write depth = an integer"),
        (
            ('id = "swap-flag"', 'id = "default"'),
            "'default' starts twice @ {file}:start[1].id, write another id",
        ),
        (
            ('id = "mine"', 'id = "plain"'),
            "id 'plain' is not the file's name @ {file}:id, write mine",
        ),
        (
            ('"drop"', '"drp"'),
            "unknown action 'drp' @ {file}:actions[9].do, write drop or ",
        ),
        (
            ("depth = 4", 'set = "weekly"\ndepth = 4'),
            "unknown set of scopes 'weekly' @ {file}:set, write nightly or standard",
        ),
        (
            ('"torch-2.4" = ', '"torch-2.5" = '),
            "unknown key 'torch-2.5' @ {file}:heaps.\"torch-2.5\", write torch-2.",
        ),
        (
            ('do = "drop"', "do = []"),
            "a list of no values @ {file}:actions[9], write at least one value",
        ),
        (
            ("[[start]]", "[[starts]]"),
            "unknown key 'starts' @ {file}:starts, write start or ",
        ),
    ],
)
def test_what_is_no_scope(tmp_path: Path, change: Change, line: str) -> None:
    """Each mistake in a scope has its line."""
    text = PLAIN.replace('"skeleton-plain"', '"mine"')
    path = changed(tmp_path / "mine.toml", text, change)

    assert said(lambda: load_scope(str(path))).startswith(line.format(file=path))


def test_an_id_that_is_taken(tmp_path: Path) -> None:
    """A file of one's own cannot pass for a scope that claims speak of."""
    path = changed(tmp_path / "skeleton-plain.toml", PLAIN)

    assert said(lambda: load_scope(str(path))) == (
        "'skeleton-plain' is the id of specs/scopes/skeleton-plain.toml "
        f"@ {path}:id, name file and id otherwise"
    )


def test_a_scope_of_nothing(tmp_path: Path) -> None:
    """Without an action there is nothing to search, without a heap nothing to pin."""
    text = PLAIN.replace('"skeleton-plain"', '"mine"')
    first = text.index("actions = ["), text.index("[heaps]")
    path = changed(tmp_path / "mine.toml", text[: first[0]] + text[first[1] :])
    changed(path, path.read_text("utf-8"), ("depth = 4", "depth = 4\nactions = []"))
    assert said(lambda: load_scope(str(path))) == (
        f"no action @ {path}:actions, write at least one [[actions]]"
    )

    changed(path, text, ('"torch-2.4" = 5633', '"torch-2.4" = -1'))
    assert said(lambda: load_scope(str(path))) == (
        f'-1 heaps: not even a start heap @ {path}:heaps."torch-2.4", '
        "write how many the search finds"
    )


def test_an_unknown_scope() -> None:
    """An unknown name is answered with the nearest ones."""
    line = said(lambda: load_scope("skeleton-plan"))

    assert line.startswith("unknown scope 'skeleton-plan' @ command line, write ")
    assert "skeleton-plain" in line


MUST_FIND = {
    ("skeleton-wrapper", "torch-2.1"): {("coherence", "data"), ("values", "data")},
    ("skeleton-wrapper", "torch-2.3"): {
        ("atomic-tensor", "swap"),
        ("hooks", "swap"),
        ("attributes", "swap"),
    },
    ("skeleton-wrapper", "torch-2.4"): {
        ("atomic-tensor", "swap"),
        ("hooks", "swap"),
        ("attributes", "swap"),
        ("graph", "swap"),
    },
    ("skeleton-gradient", "torch-2.4"): {("atomic-module", "swap")},
    ("skeleton-module", "torch-2.4"): {("atomic-module", "swap")},
}
"""By scope and spec: invariants that break, with the path on which they do."""


@pytest.mark.parametrize(("name", "spec"), MUST_FIND)
def test_what_a_scope_must_find(name: str, spec: str) -> None:
    """The scopes are wide enough for the faults that the project is about."""
    scope = evolve(load_scope(name), depth=3)
    found = explore(scope, load_spec(spec)).counterexamples

    assert MUST_FIND[name, spec] <= {
        (one.cause.invariant, one.cause.path) for one in found
    }
