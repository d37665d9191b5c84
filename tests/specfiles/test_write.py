"""Files are written whole or not at all, and a counterexample as its scenario."""

import os
from pathlib import Path

import pytest
from attrs import evolve

from swapmodel.run import Counterexample
from swapmodel.search.explore import explore
from swapmodel.specfiles.read import load_spec, release_ids
from swapmodel.specfiles.scenario import load_scenario, mismatches
from swapmodel.specfiles.scopes import load_scope
from swapmodel.specfiles.write import scenario_text, span, write_text, write_texts


def found_in(scope: str, spec: str) -> tuple[Counterexample, ...]:
    """What a search finds."""
    return explore(evolve(load_scope(scope), depth=3), load_spec(spec)).counterexamples


def test_texts_are_written(tmp_path: Path) -> None:
    """Folders are made, old texts replaced, and nothing else is left there."""
    write_text(tmp_path / "a" / "b.txt", "old\n")
    write_texts(tmp_path, {"a/b.txt": "new\n", "c.txt": "ü\n"})

    assert (tmp_path / "a" / "b.txt").read_bytes() == b"new\n"
    assert (tmp_path / "c.txt").read_bytes() == "ü\n".encode()
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["a", "b.txt", "c.txt"]


def test_a_failed_write_leaves_the_old_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be put in place leaves the old text and no other file."""
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def fail(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no"):
        write_text(path, "new")

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("scope", ["skeleton-gradient", "skeleton-module"])
@pytest.mark.parametrize("spec", ["torch-2.1", "torch-2.3", "torch-2.4"])
def test_a_written_scenario_comes_out(tmp_path: Path, scope: str, spec: str) -> None:
    """Each counterexample is read back as the program that it was, and holds."""
    held = load_spec(spec)
    for number, one in enumerate(found_in(scope, spec)):
        path = tmp_path / f"{number}.toml"
        write_text(path, scenario_text(one, held, [spec]))
        scenario = load_scenario(path)

        assert scenario.program == one.program
        assert scenario.start == one.heap
        assert scenario.specs == (spec,)
        assert list(mismatches(scenario, held)) == []


def test_spans() -> None:
    """Neighbouring releases are a span, anything else is listed."""
    ids = release_ids()

    assert span(ids) == {"since": "2.1"}
    assert span(ids[1:3]) == {"since": "2.3", "until": "2.8"}
    assert span(["torch-2.1", "torch-2.4"]) == {"specs": ["torch-2.1", "torch-2.4"]}
    assert span(["ours"]) == {"specs": ["ours"]}
