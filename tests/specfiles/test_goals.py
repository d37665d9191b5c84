"""What scopes reach is data, and a scope that reaches less is told."""

import shutil
from pathlib import Path

import pytest
from attrs import evolve

from swapmodel.search.explore import Exploration, explore
from swapmodel.specfiles import files, goals
from swapmodel.specfiles.goals import FILE, goals_text, missed, reached
from swapmodel.specfiles.read import load_spec
from swapmodel.specfiles.rules import invariants, rules
from swapmodel.specfiles.scopes import load_scope, scope_specs
from tests.specfiles.mine import said


@pytest.fixture(scope="module")
def one() -> Exploration:
    """A small search."""
    scope = evolve(load_scope("skeleton-gradient"), depth=2)
    return explore(scope, load_spec("torch-2.13"))


@pytest.fixture
def searched(one: Exploration) -> tuple[Exploration, ...]:
    """The same under every spec of its scope."""
    return tuple(evolve(one, spec=name) for name in scope_specs(one.scope))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the specs."""
    copy = tmp_path / "specs"
    shutil.copytree(files.specs_folder(), copy)
    monkeypatch.setattr(goals, "specs_folder", lambda: copy)
    return copy


def test_what_is_reached(one: Exploration) -> None:
    """Rules, paths and broken invariants, each with the scopes that reach it."""
    found = reached([one, evolve(one, scope="everything", rules=(), paths=())])

    assert found["paths", "swap"] == {"skeleton-gradient"}
    assert found["rules", "swap/gradient-edge"] == {"skeleton-gradient"}
    assert found["invariants", "atomic-module"] == {"skeleton-gradient", "everything"}


def test_what_is_written_is_read(folder: Path, one: Exploration) -> None:
    """The file holds what was reached, no more and no less."""
    (folder / FILE).write_text(goals_text([one]), encoding="utf-8")

    assert {key: {*scopes} for key, scopes in goals.goals().items()} == reached([one])


def test_a_goal_that_is_missed(searched: tuple[Exploration, ...]) -> None:
    """It is told once, if every spec of the scope was searched to its end."""
    claimed = {("rules", "swap/same-slots"): ("skeleton-gradient", "slots")}
    told = "skeleton-gradient does not reach rule swap/same-slots any more"

    assert [*missed(claimed, searched)] == [told]
    assert [*missed(claimed, searched[1:])] == []
    stopped = evolve(searched[0], stopped="limit")
    assert [*missed(claimed, (stopped, *searched[1:]))] == []


def test_a_goal_that_one_spec_reaches(searched: tuple[Exploration, ...]) -> None:
    """A rule of one release is a goal of the scope as well."""
    claimed = {("rules", "swap/one-owner"): ("skeleton-gradient",)}
    found = evolve(searched[0], rules=("swap/one-owner",))

    assert [*missed(claimed, (found, *searched[1:]))] == []


def test_a_scope_of_ones_own(one: Exploration) -> None:
    """A scope that is not among ours has no goals."""
    assert [*missed({("paths", "swap"): ()}, [evolve(one, scope="tiny")])] == []


def test_the_listed_goals_are_there() -> None:
    """Every goal is a rule, a path or an invariant."""
    known = goals.goals()

    assert {name for kind, name in known if kind == "rules"} <= {*rules()}
    assert {name for kind, name in known if kind == "invariants"} <= {*invariants()}
    assert all(known.values())


def test_an_unknown_scope(folder: Path) -> None:
    """A mistake is one line."""
    text = '[rules]\n"swap/same-slots" = ["nowhere"]\n\n[paths]\n\n[invariants]\n'
    (folder / FILE).write_text(text, encoding="utf-8")

    assert "unknown scope 'nowhere'" in said(goals.goals)
