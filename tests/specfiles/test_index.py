"""The generated tables are fresh."""

from pathlib import Path

import pytest

from swapmodel.specfiles import index
from swapmodel.specfiles.claims import known_causes
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.index import (
    generated,
    history_table,
    rows_of,
    verdicts_table,
)
from swapmodel.specfiles.read import release_ids
from tests.specfiles.mine import said


def test_generated_tables_are_fresh() -> None:
    """`make index` would change nothing."""
    top = specs_folder().parent
    kept = {name: (top / name).read_text(encoding="utf-8") for name in generated()}

    assert kept == generated()


def test_a_table_of_markdown() -> None:
    """A cell is one line, and a bar in it is no border."""
    assert "".join(rows_of(("a", "b"), [["x|y", "1\n2"]])) == (
        "| a | b |\n| --- | --- |\n| x\\|y | 1 2 |\n"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "<!-- table: rule -->\n<!-- end -->\n",
            "unknown table 'rule' @ specs/README.md, write rules or ",
        ),
        (
            "<!-- table: rules -->\n",
            "a generated table without its end @ specs/README.md, write ",
        ),
    ],
)
def test_a_broken_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: str
) -> None:
    """An unknown table or one without its end is not passed over."""
    specs = tmp_path / "specs"
    specs.mkdir()
    (specs / "README.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(index, "specs_folder", lambda: specs)

    assert said(generated).startswith(line)


def test_verdicts_count_the_claims() -> None:
    """A cell of the newest release is the number of its known causes there."""
    head, _, *rows = (line.strip("| \n").split(" | ") for line in verdicts_table())
    newest = release_ids()[-1]
    known = [one.cause for one in known_causes() if newest in one.specs]

    cells = {
        (row[0].strip("`"), path): cell
        for row in rows
        for path, cell in zip(head[1:], row[1:], strict=True)
    }

    assert head[0] == newest
    assert sum(int(cell) for cell in cells.values() if cell != "holds") == len(known)
    for cause in known:
        same = [one for one in known if one.path == cause.path]
        count = sum(one.invariant == cause.invariant for one in same)
        assert cells[cause.invariant, cause.path] == str(count)


def test_history_tells_what_changed() -> None:
    """No row is the same under every release."""
    head, _, *rows = (line.strip("| \n").split(" | ") for line in history_table())

    assert head == ["invariant", "path", *release_ids()]
    assert rows
    assert all(len(set(row[2:])) > 1 for row in rows)
