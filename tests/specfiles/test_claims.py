"""Known violations are data with a witness, and what is missing is proposed."""

import shutil
import tomllib
from pathlib import Path

import pytest
from attrs import evolve

from swapmodel.run import Counterexample
from swapmodel.search.explore import explore
from swapmodel.specfiles import claims, files
from swapmodel.specfiles.claims import (
    known_causes,
    patch,
    phase_names,
    propose,
    replace,
)
from swapmodel.specfiles.read import load_spec, release_ids
from swapmodel.specfiles.scenario import load_scenario, mismatches
from swapmodel.specfiles.scopes import load_scope
from swapmodel.specfiles.write import write_texts
from tests.specfiles.mine import Change, changed, said


@pytest.fixture(scope="module")
def found() -> tuple[Counterexample, ...]:
    """What one scope holds under every release, the alike ones searched once."""
    scope = evolve(load_scope("skeleton-gradient"), depth=3)
    searched = {
        name: explore(scope, load_spec(name)).counterexamples
        for name in ("torch-2.1", "torch-2.3", "torch-2.4")
    }
    alike = {"torch-2.8": "torch-2.4", "torch-2.13": "torch-2.4"}
    return tuple(
        evolve(one, spec=name)
        for name in release_ids()
        for one in searched[alike.get(name, name)]
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the specs without claims and without found scenarios."""
    copy = tmp_path / "specs"
    shutil.copytree(files.specs_folder(), copy)
    shutil.rmtree(copy / "claims", ignore_errors=True)
    shutil.rmtree(copy / "scenarios" / "found", ignore_errors=True)
    monkeypatch.setattr(claims, "specs_folder", lambda: copy)
    return copy


def test_a_proposal_is_what_was_found(
    folder: Path, found: tuple[Counterexample, ...]
) -> None:
    """The claims that are proposed list each cause for each spec that has it."""
    write_texts(folder, propose(found))
    listed = {(one.cause, spec) for one in known_causes() for spec in one.specs}

    assert listed == {(one.cause, one.spec) for one in found}
    assert patch(propose(found)) == ""


def test_witnesses_come_out(folder: Path, found: tuple[Counterexample, ...]) -> None:
    """Every proposed scenario holds under each spec that its claim names."""
    write_texts(folder, propose(found))
    for one in known_causes():
        scenario = load_scenario(folder / "scenarios" / one.scenario)

        assert scenario.specs == one.specs
        for name in one.specs:
            assert list(mismatches(scenario, load_spec(name))) == []


def test_proposals_do_not_depend_on_the_order(
    found: tuple[Counterexample, ...],
) -> None:
    """The same causes give the same bytes."""
    assert propose(reversed(found)) == propose(found)


def test_a_patch_takes_away_what_is_gone(
    folder: Path, found: tuple[Counterexample, ...]
) -> None:
    """A claim that nothing found any more is removed, with its witness."""
    write_texts(folder, propose(found))
    text = patch({})

    assert "+++ /dev/null" in text
    assert "--- a/specs/claims/" in text
    assert "\n+++ b/" not in text
    assert patch(propose(found)) == ""


def test_what_is_proposed_replaces_what_was_there(
    folder: Path, found: tuple[Counterexample, ...]
) -> None:
    """Claims and witnesses of causes that are found no more are removed."""
    replace(propose(found))
    fewer = [one for one in found if one.cause.invariant == "attributes"]
    replace(propose(fewer))

    assert {one.cause for one in known_causes()} == {one.cause for one in fewer}
    assert patch(propose(fewer)) == ""


def test_a_span_with_a_gap_is_two_claims(found: tuple[Counterexample, ...]) -> None:
    """A cause that a release in between has not is listed before and after it."""
    one = next(c for c in found if c.spec == "torch-2.1")
    same = [c for c in found if c.cause == one.cause and c.spec != "torch-2.4"]
    texts = propose(same)
    rows = tomllib.loads(texts[f"claims/{one.cause.invariant}.toml"])["claim"]

    assert [(row.get("since"), row.get("until")) for row in rows] == [
        ("2.1", "2.4"),
        ("2.8", None),
    ]


def test_the_listed_claims_are_well_formed() -> None:
    """What is in the folder is read without an error."""
    assert all(one.specs for one in known_causes())


def test_phases_of_causes() -> None:
    """A cause names a phase, an `except` clause or a whole action."""
    assert "swap_tensors/move-class" in phase_names()
    assert "convert_parameter/swap/refused" in phase_names()
    assert "SetData" in phase_names()


ENTRY = """[[claim]]
invariant = "atomic-tensor"
path = "swap"
phase = "swap_tensors/move-attributes"
kind = "parameter"
since = "2.3"
until = "2.4"
scope = "skeleton-wrapper"
scenario = "swap/torn-by-a-live-graph.toml"
"""


@pytest.mark.parametrize(
    ("change", "what", "key"),
    [
        (("atomic-tensor", "atomic-tensors"), "unknown invariant", "invariant"),
        (('path = "swap"', 'path = "swop"'), "unknown path", "path"),
        (("move-attributes", "move-attribute"), "unknown phase", "phase"),
        (('"parameter"', '"param"'), "unknown kind of place", "kind"),
        (("skeleton-wrapper", "skeleton"), "unknown scope", "scope"),
        (("torn-by-a-live", "torn-by-live"), "unknown scenario", "scenario"),
        (("swap/torn", "../swap/torn"), "'../swap/torn-by-a-live", "scenario"),
        (('"swap/torn', '"/swap/torn'), "'/swap/torn-by-a-live", "scenario"),
        (("since", "sinc"), "unknown key", "sinc"),
    ],
)
def test_what_is_no_claim(folder: Path, change: Change, what: str, key: str) -> None:
    """Each mistake in a claim has its line."""
    (folder / "claims").mkdir()
    path = changed(folder / "claims" / "x.toml", ENTRY, change)
    line = said(known_causes)

    assert line.startswith(what)
    assert f" @ {path}:claim[0].{key}, " in line


def test_a_cause_is_listed_once(folder: Path) -> None:
    """Two entries for one cause and one spec contradict each other."""
    (folder / "claims").mkdir()
    path = changed(folder / "claims" / "x.toml", ENTRY + ENTRY)

    assert said(known_causes) == (
        "the same cause is listed twice for one spec "
        f"@ {path}:claim[1], keep one of them"
    )
