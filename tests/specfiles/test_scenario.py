"""Every scenario comes out as it says, and one that does not is noticed."""

from pathlib import Path

import pytest

from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.read import load_spec
from swapmodel.specfiles.scenario import load_scenario, mismatches
from tests.specfiles.mine import Change, changed, said

FOLDER = specs_folder() / "scenarios"
TORN = (FOLDER / "swap" / "torn-by-a-live-graph.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "path", sorted(FOLDER.rglob("*.toml")), ids=lambda one: str(one.relative_to(FOLDER))
)
def test_scenarios(path: Path) -> None:
    """A scenario holds under each spec that it names."""
    scenario = load_scenario(path)
    found = {
        name: list(mismatches(scenario, load_spec(name))) for name in scenario.specs
    }

    assert {name: [] for name in scenario.specs} == found


def test_another_spec_differs(tmp_path: Path) -> None:
    """What is not so under a spec is told, outcome by outcome and place by place."""
    scenario = load_scenario(changed(tmp_path / "x.toml", TORN))
    found = list(mismatches(scenario, load_spec("torch-2.4")))

    assert found == [
        "action 2 is expected to be refused by swap/one-owner of t1 "
        "within convert/could-not-swap, it is done",
        'm.weight.dtype is expected to be "float32", it is "float64"',
    ]


def test_what_a_release_cannot_do(tmp_path: Path) -> None:
    """A program that leaves the model ends there, and the scenario says so."""
    path = FOLDER / "swap" / "poisoned-by-a-refusal.toml"
    found = list(mismatches(load_scenario(path), load_spec("torch-2.1")))

    assert "out of scope" in found[0]
    assert found[1] == "action 4 does not run"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            ('rule = "swap/one-owner"', 'rule = "swap/one-owners"'),
            "unknown rule 'swap/one-owners' @ {file}:when[1].refused.rule, "
            "write swap/one-owner or ",
        ),
        (
            ('["convert/could-not-swap"]', '["convert/couldnt"]'),
            "unknown rule 'convert/couldnt' @ {file}:when[1].refused.within[0], write ",
        ),
        (("[then]", "[than]"), "unknown key 'than' @ {file}:than, write then or "),
        (
            ('do = "convert"', 'do = "convrt"'),
            "unknown action 'convrt' @ {file}:when[1].do, write convert or ",
        ),
        (
            ('since = "2.3"', 'since = "2.5"'),
            "unknown release group '2.5' @ {file}:since, write ",
        ),
        (
            ('since = "2.3"', 'specs = ["torch-2.3"]'),
            "both this and specs @ {file}:until, write one of the two",
        ),
        (
            ('since = "2.3"\nuntil = "2.4"', "specs = []"),
            "no spec @ {file}:specs, write ",
        ),
        (
            ('since = "2.3"\nuntil = "2.4"', 'specs = ["torch-2.33"]'),
            "unknown spec 'torch-2.33' @ {file}:specs[0], write torch-2.3 or ",
        ),
        (
            ("refused =", "undefined = true\nrefused ="),
            "refused as well @ {file}:when[1].undefined, write one of the two",
        ),
        (
            ("[given]", "[givn]"),
            "unknown key 'givn' @ {file}:givn, write given or ",
        ),
        (
            ("tensors.w", "tensors.v"),
            "unknown label 'w' @ {file}:given.modules.m.parameters.weight, "
            "write None or v",
        ),
    ],
)
def test_what_is_no_scenario(tmp_path: Path, change: Change, line: str) -> None:
    """Each mistake in a scenario has its line."""
    path = changed(tmp_path / "x.toml", TORN, change)

    assert said(lambda: load_scenario(path)).startswith(line.format(file=path))


def test_a_scenario_without_an_action(tmp_path: Path) -> None:
    """A claim needs a program that shows it."""
    text = 'claim = "x"\nwhen = []\n[given]\ntensors.w = {}\n'
    path = changed(tmp_path / "x.toml", text)

    assert said(lambda: load_scenario(path)) == (
        f"no action @ {path}:when, write at least one [[when]]"
    )
