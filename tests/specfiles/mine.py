"""What several tests of this folder start from."""

from collections.abc import Callable
from pathlib import Path

import pytest

from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.schema import BadInput

Change = tuple[str, str]
"""A text that stands in a file, and what to write in its place."""


def changed_spec(folder: Path, *changes: Change, base: str = "torch-2.4") -> Path:
    """Write a release under the id `mine`, with some texts replaced."""
    path = specs_folder() / "releases" / f"{base}.toml"
    text = path.read_text(encoding="utf-8").replace(f'"{base}"', '"mine"')
    return changed(folder / "mine.toml", text, *changes)


def changed(path: Path, text: str, *changes: Change) -> Path:
    """Write a text with some texts replaced."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


def said(read: Callable[[], object]) -> str:
    """What a read is answered with, which is one line."""
    with pytest.raises(BadInput) as error:
        read()
    line = str(error.value)

    assert "\n" not in line
    return line
