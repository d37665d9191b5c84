"""Where the files are that the meta tests read."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parents[2]


@frozen
class Source:
    """A Python file of this project."""

    module: str
    """Its dotted name; of a package, the name of the folder."""

    path: Path
    text: str

    @property
    def is_package(self) -> bool:
        """Whether this is the `__init__.py` of its folder."""
        return self.path.name == "__init__.py"


def sources(folder: str) -> list[Source]:
    """Read every Python file under *folder* of the project."""
    return [source(path) for path in sorted((ROOT / folder).rglob("*.py"))]


def source(path: Path) -> Source:
    """Read the Python file at *path*."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return Source(".".join(parts), path, path.read_text(encoding="utf-8"))


def files_in_git() -> list[Path]:
    """Name every file that is in git or would be if all were added."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (ROOT / name for name in listed.split("\0") if name)
    return sorted({path for path in paths if path.is_file()})


def texts_in_git() -> Iterator[tuple[str, str]]:
    """Read every file of `files_in_git` that is text, with its name."""
    for path in files_in_git():
        try:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
