"""Files are found where they lie, and every unreadable one is answered."""

from pathlib import Path

import pytest

from swapmodel.specfiles.files import below, read_toml, shown_path, specs_folder
from swapmodel.specfiles.schema import BadInput, Where


def said(path: Path) -> str:
    """What reading a file is answered with."""
    with pytest.raises(BadInput) as error:
        read_toml(path)
    line = str(error.value)

    assert "\n" not in line
    assert str(path) in line
    return line


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "the file is empty"),
        (b"# only a comment\n", "the file is empty"),
        (b"a = \n", "TOML syntax: Invalid value"),
        (b"a = 1\na = 2\n", "TOML syntax: Cannot overwrite"),
        (b"a = [1", "TOML syntax: Unclosed array"),
        (b"a = '\xff'\n", "the file is not UTF-8"),
        (b"a = '\x00'\n", "TOML syntax"),
        (b"a = " + b"[" * 100_000, "TOML"),
    ],
)
def test_unreadable_content(tmp_path: Path, content: bytes, what: str) -> None:
    """Empty, broken and foreign content each have their line."""
    path = tmp_path / "x.toml"
    path.write_bytes(content)

    assert what in said(path)


def test_a_line_number_is_told(tmp_path: Path) -> None:
    """A syntax error says in which line and column it is."""
    path = tmp_path / "x.toml"
    path.write_text("a = 1\nb = = 2\n")

    assert f"{path}:2:5" in said(path)


def test_a_directory(tmp_path: Path) -> None:
    """A directory is answered with a file in it."""
    (tmp_path / "a.toml").write_text("a = 1")

    assert "a directory, not a file" in said(tmp_path)
    assert said(tmp_path).endswith("write a.toml")


def test_a_missing_file(tmp_path: Path) -> None:
    """A missing file is answered with the nearest one beside it."""
    (tmp_path / "torch-9.toml").write_text("a = 1")

    assert said(tmp_path / "torch-8.toml").endswith("write torch-9.toml")
    assert "no such file" in said(tmp_path / "gone" / "x.toml")


def test_a_device() -> None:
    """What never ends is not read."""
    assert "not a regular file" in said(Path("/dev/zero"))


def test_a_name_with_a_zero_byte() -> None:
    """A path that no system has is answered as well."""
    with pytest.raises(BadInput):
        read_toml(Path("a\0b.toml"))


def test_specs_are_shown_from_their_folder(tmp_path: Path) -> None:
    """Errors name our files alike wherever the package is installed."""
    ours = specs_folder() / "releases" / "torch-2.4.toml"

    assert ours.is_file()
    assert shown_path(ours) == "specs/releases/torch-2.4.toml"
    assert shown_path(tmp_path) == str(tmp_path)


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "..\\x", "c:x", "", "a\0"])
def test_a_name_that_leads_out(tmp_path: Path, name: str) -> None:
    """A name in a file stays in its folder."""
    with pytest.raises(BadInput, match="leads out of its folder"):
        below(tmp_path, name, Where("f.toml", "extends"))


def test_a_name_below(tmp_path: Path) -> None:
    """A name may lead into a folder below."""
    assert below(tmp_path, "a/b.toml", Where("f")) == tmp_path / "a" / "b.toml"


@pytest.mark.parametrize(
    "text", ["a" + ".b" * 40 + " = 1", f"a = {'[' * 33}{']' * 33}"]
)
def test_deep_tables(tmp_path: Path, text: str) -> None:
    """Dotted keys nest without end, and what reads them does not."""
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")

    told = f"the TOML is nested too deeply @ {path}, write at most 32 levels"
    assert said(path) == told
