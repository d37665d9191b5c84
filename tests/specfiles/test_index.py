"""The generated tables are fresh."""

from pathlib import Path

import pytest

from swapmodel.specfiles import index
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.index import generated, rows_of
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
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(index, "specs_folder", lambda: tmp_path)

    assert said(generated).startswith(line)
