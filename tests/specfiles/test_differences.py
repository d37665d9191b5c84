"""What a proposal mends or adds beside its base is data of its own file."""

from pathlib import Path

import pytest
from attrs import evolve

from swapmodel.invariants.violation import Cause
from swapmodel.report.verdicts import rows
from swapmodel.run import Counterexample
from swapmodel.search.explore import explore
from swapmodel.specfiles.claims import known_causes
from swapmodel.specfiles.differences import differing, known_under
from swapmodel.specfiles.read import load_spec, spec_ids
from swapmodel.specfiles.scopes import load_scope
from tests.specfiles.mine import Change, changed, said

PROPOSAL = """\
id = "mine"
statement = "As 2.13; nothing is asked of weak references."
extends = "torch-2.13"

[refused]
"convert_parameter/swap" = ["could-not-swap"]
"""

DIFFERENCES = """
[[differs]]
now = "holds"
invariant = "attributes"
path = "swap"
phase = "swap_tensors/move-attributes"
kind = "gradient"
scope = "skeleton-gradient"

[[differs]]
now = "violated"
invariant = "use-count"
path = "swap"
phase = "swap_tensors/few-owners"
kind = "parameter"
scope = "skeleton-gradient"
"""

MENDED = Cause("attributes", "swap", "swap_tensors/move-attributes", "gradient")
ADDED = Cause("use-count", "swap", "swap_tensors/few-owners", "parameter")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A proposal that lists one cause of each kind."""
    return changed(tmp_path / "mine.toml", PROPOSAL + DIFFERENCES)


def test_what_differs(mine: Path) -> None:
    """What is mended is off the proposal alone, what is added on it alone."""
    known = known_under([str(mine)])

    assert {one.cause for one in known if "mine" in one.mended} == {MENDED}
    assert {one.cause for one in known if "mine" in one.specs} == {ADDED}
    assert {one.specs for one in known if one.cause == ADDED} == {("mine",)}


def test_it_is_judged_by_them(mine: Path) -> None:
    """A difference that is listed has to be found, and one that is not must not be."""
    spec, scope = load_spec(str(mine)), load_scope("skeleton-gradient")
    exploration = explore(evolve(scope, depth=2), spec, invariants=())
    judged = rows(spec, (exploration,), known_under([str(mine)]), ("swap",))
    claims = {(row.invariant, row.cause): row.claim for row in judged}

    assert claims["use-count", "swap_tensors/few-owners parameter"] == "violated"
    assert ("attributes", "swap_tensors/move-attributes gradient") not in claims
    base = rows(load_spec("torch-2.13"), (exploration,), known_under([str(mine)]))
    assert not any(row.invariant == "use-count" and row.cause for row in base)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (('"holds"', '"violated"'), "torch-2.13 has this cause as well"),
        (('"violated"', '"holds"'), "torch-2.13 has no such cause"),
        (('"violated"', '"broken"'), "unknown verdict 'broken'"),
        (('"skeleton-gradient"', '"nowhere"'), "unknown scope 'nowhere'"),
        (('"use-count"', '"nothing"'), "unknown invariant 'nothing'"),
        (("scope =", "scopes ="), "unknown key 'scopes'"),
    ],
)
def test_what_is_no_difference(mine: Path, change: Change, what: str) -> None:
    """Each mistake is one line."""
    changed(mine, mine.read_text(encoding="utf-8"), change)

    assert what in said(lambda: known_under([str(mine)]))


@pytest.mark.parametrize("verdict", ["holds", "violated"])
def test_a_difference_is_listed_once(mine: Path, verdict: str) -> None:
    """Neither what is mended nor what is added stands there twice."""
    holds, violated = DIFFERENCES.strip().split("\n\n")
    again = {"holds": holds, "violated": violated}[verdict]
    changed(mine, f"{mine.read_text(encoding='utf-8')}\n{again}\n")

    assert "listed twice" in said(lambda: known_under([str(mine)]))


def test_a_release_differs_from_nothing(tmp_path: Path) -> None:
    """Only what extends a release can differ from it."""
    text = PROPOSAL.replace('extends = "torch-2.13"\n', "") + DIFFERENCES
    path = changed(tmp_path / "mine.toml", text)

    assert "a release differs from nothing" in said(lambda: load_spec(str(path)))


def test_the_file_is_written_again(mine: Path, found: Counterexample) -> None:
    """What was found is listed instead of what was listed, and nothing else changes."""
    known = {one.cause for one in known_under([]) if "torch-2.13" in one.specs}
    base = [evolve(found, cause=cause) for cause in known]
    text = differing(str(mine), [*base, evolve(found, cause=ADDED)])

    assert text == PROPOSAL + DIFFERENCES[DIFFERENCES.index("\n[[differs]]", 2) :]
    changed(mine, text)
    assert differing(str(mine), base) == PROPOSAL
    without = [one for one in base if one.cause != MENDED]
    changed(mine, differing(str(mine), without))
    assert {one.cause for one in known_under([str(mine)]) if one.mended} == {MENDED}


@pytest.fixture
def found() -> Counterexample:
    """Any counterexample of the proposal."""
    scope = load_scope("skeleton-gradient")
    one = explore(evolve(scope, depth=1), load_spec("torch-2.13")).counterexamples[0]
    return evolve(one, spec="mine", scope="skeleton-gradient")


def test_the_listed_differences_are_well_formed() -> None:
    """Those of every proposal can be read together."""
    known = known_under(spec_ids())

    assert {one.cause for one in known} >= {one.cause for one in known_causes()}
    assert any("atomic-swap" in one.mended for one in known)
    assert any(one.specs == ("id-weakrefs",) for one in known)
