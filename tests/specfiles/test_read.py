"""A spec is found by id, by release or by file, and loading it runs no code."""

from pathlib import Path

import pytest

from swapmodel.actions import SwapTensors, View
from swapmodel.outcomes import Refused
from swapmodel.run import run
from swapmodel.specfiles.expect import seen
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.given import heap_from_given
from swapmodel.specfiles.read import (
    load_spec,
    load_specs,
    release_ids,
    releases_between,
    spec_ids,
)
from swapmodel.specfiles.schema import Table, Where
from tests.specfiles.mine import changed, changed_spec, said

PROPOSAL = 'id = "{id}"\nextends = "{base}"\nstatement = "Mine."\n'


def proposal(folder: Path, name: str, base: str, rest: str = "") -> Path:
    """Write a proposal."""
    text = PROPOSAL.format(id=name, base=base)
    return changed(folder / f"{name}.toml", text + rest)


def test_ids() -> None:
    """Releases come first, in order of their numbers."""
    expected = ("torch-2.1", "torch-2.3", "torch-2.4", "torch-2.8", "torch-2.13")

    assert release_ids() == expected
    assert spec_ids()[: len(expected)] == expected


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("torch-2.4", "torch-2.4"),
        ("2.4", "torch-2.4"),
        ("2.5.1", "torch-2.4"),
        ("2.5", "torch-2.4"),
        ("torch-2.2.2", "torch-2.1"),
        ("2.13.0+cpu", "torch-2.13"),
        ("2.3.1", "torch-2.3"),
        ("2.7.1", "torch-2.4"),
    ],
)
def test_a_release_is_found(name: str, found: str) -> None:
    """Any measured or placed release resolves to its group."""
    assert load_spec(name).id == found


@pytest.mark.parametrize("name", ["2.10.0", "torch-2.0", "torch", ""])
def test_a_release_of_no_group(name: str) -> None:
    """What was not measured belongs to no group."""
    assert said(lambda: load_spec(name)).startswith(f"unknown spec {name!r} @ ")


@pytest.mark.parametrize("name", spec_ids())
def test_every_spec_loads(name: str) -> None:
    """What is in the folder can be run, and has the name of its file."""
    spec = load_spec(name)

    assert spec.id == name
    assert spec.statement


def test_releases_that_agree() -> None:
    """2.4, 2.8 and 2.13 differ in RNNBase and in the rows that are about FakeTensor."""
    specs = [load_spec(one) for one in ("torch-2.4", "torch-2.8", "torch-2.13")]
    rows = [{row for _, rows in one.choices for row in rows} for one in specs]

    known = [dict(one.operations) | {"copy_rnn": ()} for one in specs]
    assert known[0] == known[1] == known[2]
    assert len({one.refused for one in specs}) == 1
    assert [row.predicates for row in rows[1] - rows[0]] == [("was-fake",)]
    assert all("result-is-not-fake" in row.predicates for row in rows[2] - rows[1])


def test_another_order_is_another_outcome(tmp_path: Path) -> None:
    """A spec with its phases in another order behaves otherwise, without new code."""
    early = '    "move-class",\n    "move-attributes",\n    "move-slots",\n'
    late = '    "few-owners",\n'
    path = changed_spec(tmp_path, (late + early, early + late))
    start = heap_from_given({"tensors": {"p": {"class": "Parameter"}, "q": {}}}, "f")
    program = (View("p", "v"), SwapTensors("p", "q"))

    (_, was) = run(start, program, load_spec("torch-2.4")).outcomes
    (_, now) = run(start, program, load_spec(str(path))).outcomes

    assert isinstance(was, Refused)
    assert isinstance(now, Refused)
    assert was.rule == now.rule == "swap/few-owners"
    assert seen(was.heap, (), "p.class") == "Parameter"
    assert seen(now.heap, (), "p.class") == "Tensor"


def test_a_proposal_says_what_differs(tmp_path: Path) -> None:
    """What a proposal does not name is that of its base."""
    rest = '[operations]\nswap_tensors = ["move-class"]\n'
    path = proposal(tmp_path, "mine", "torch-2.4", rest)
    spec, base = load_spec(str(path)), load_spec("torch-2.4")

    assert spec.base == "torch-2.4"
    assert dict(spec.operations)["swap_tensors"] == ("move-class",)
    assert dict(spec.operations)["set_data"] == dict(base.operations)["set_data"]
    assert spec.choices == base.choices
    assert spec.messages == base.messages
    assert spec.measured == ()


def test_a_circle(tmp_path: Path) -> None:
    """Specs that extend each other are told in the order of the circle."""
    path = proposal(tmp_path, "a", "b")
    proposal(tmp_path, "b", "a")
    itself = proposal(tmp_path, "c", "c")

    line = said(lambda: load_spec(str(path)))

    assert line.startswith("a extends b extends a: a circle @ ")
    assert f"{tmp_path}/b.toml:extends" in line
    assert "c extends c: a circle" in said(lambda: load_spec(str(itself)))


def test_two_levels(tmp_path: Path) -> None:
    """A proposal cannot extend a proposal."""
    path = proposal(tmp_path, "a", "b")
    proposal(tmp_path, "b", "torch-2.4")

    assert "one level is allowed" in said(lambda: load_spec(str(path)))


@pytest.mark.parametrize(
    ("base", "what"),
    [
        ("torch-2.5", "unknown spec 'torch-2.5'"),
        ("../x", "'../x.toml' leads out of its folder"),
        ("/x", "'/x.toml' leads out of its folder"),
    ],
)
def test_a_base_that_is_not_there(tmp_path: Path, base: str, what: str) -> None:
    """A base is a release, or a file beside the proposal."""
    path = proposal(tmp_path, "mine", base)
    line = said(lambda: load_spec(str(path)))

    assert line.startswith(f"{what} @ {path}:extends, write ")


def test_an_id_that_is_not_the_file_name(tmp_path: Path) -> None:
    """A spec is called what its file is called."""
    path = changed_spec(tmp_path, ('id = "mine"', 'id = "yours"'))

    line = said(lambda: load_spec(str(path)))

    assert line == f"id 'yours' is not the file's name @ {path}:id, write mine"


@pytest.mark.parametrize("name", ["torch-2.13", "atomic-swap"])
def test_an_id_that_is_taken(tmp_path: Path, name: str) -> None:
    """A file of one's own would be judged by the claims about another spec."""
    path = proposal(tmp_path, name, "torch-2.4")
    line = said(lambda: load_spec(str(path)))

    assert line.startswith(f"{name!r} is the id of specs/")
    assert line.endswith(f" @ {path}:id, name file and id otherwise")
    assert load_spec(str(specs_folder() / "releases" / "torch-2.13.toml"))


@pytest.mark.parametrize("key", ["measured", "placed"])
def test_a_proposal_is_no_release(tmp_path: Path, key: str) -> None:
    """Nobody ran a proposal, so that it cannot say what was run."""
    path = proposal(tmp_path, "mine", "torch-2.4", f'{key} = ["2.13.0"]\n')
    line = said(lambda: load_spec(str(path)))

    assert line.startswith("a proposal is no release, ")
    assert line.endswith(f" @ {path}:{key}, leave it out")


def test_each_spec_once() -> None:
    """A spec has several names, and is run once."""
    specs = load_specs(["2.4", "2.13"])

    assert [one.id for one in specs] == ["torch-2.4", "torch-2.13"]
    assert "are both torch-2.4" in said(lambda: load_specs(["2.4.1", "2.5"]))


def test_files_that_are_none(tmp_path: Path) -> None:
    """A directory and a missing file are answered as such."""
    assert "a directory" in said(lambda: load_spec(f"{tmp_path}/"))
    assert "no such file" in said(lambda: load_spec(f"{tmp_path}/x.toml"))


def test_spans() -> None:
    """`since` is in, `until` is out, and either may be open."""

    def between(**rows: object) -> tuple[str, ...]:
        return releases_between(Table(rows, Where("f")))

    assert between() == release_ids()
    assert between(since="2.3", until="2.8") == ("torch-2.3", "torch-2.4")
    assert between(since="2.13") == ("torch-2.13",)
    assert "is not after" in said(lambda: between(since="2.4", until="2.3"))
    assert "unknown release group '2.5'" in said(lambda: between(since="2.5"))
