"""
Where do the specs lie, and what is read from a file that should be TOML?
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path, PurePosixPath

from swapmodel.specfiles.schema import BadInput, Table, Where, nearest

DEEPEST = 32
"""How deep tables and arrays can be nested; what reads them recurses."""


def specs_folder() -> Path:
    """
    The folder of all specs: inside the package in a wheel, beside it in a checkout.
    """
    package = Path(str(files("swapmodel")))
    inside = package / "specs"
    return inside if inside.is_dir() else package.parent / "specs"


def shown_path(path: Path) -> str:
    """Name a file as a user would: from the folder of specs, else as given."""
    try:
        return str(PurePosixPath("specs", path.relative_to(specs_folder())))
    except ValueError:
        return str(path)


def read_toml(path: Path) -> Table:
    """
    Read a file of ours.

    Refuses what is not there, no file, not UTF-8, not TOML or empty.
    """
    shown = shown_path(path)
    try:
        rows = tomllib.loads(_text(path, shown))
    except tomllib.TOMLDecodeError as error:
        raise _syntax(str(error), shown) from None
    except RecursionError:
        raise _too_deep(shown) from None
    if not rows:
        raise BadInput("the file is empty", shown, "write what specs/README.md lists")
    if _depth(rows) > DEEPEST:
        raise _too_deep(shown)
    return Table(rows, Where(shown))


def _too_deep(shown: str) -> BadInput:
    what = "the TOML is nested too deeply"
    return BadInput(what, shown, f"write at most {DEEPEST} levels")


def _depth(value: object) -> int:
    """How deep tables and arrays are within each other."""
    depth, level = 0, [value]
    while level:
        depth += 1
        holders = [list(one.values()) for one in level if isinstance(one, dict)]
        holders += [one for one in level if isinstance(one, list)]
        level = [one for holder in holders for one in holder]
    return depth


def _text(path: Path, shown: str) -> str:
    try:
        if path.is_dir():
            raise BadInput("a directory, not a file", shown, _a_file_in(path))
        if path.exists() and not path.is_file():
            raise BadInput("not a regular file", shown, "name a TOML file")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        instead = _a_file_in(path.parent, path.name)
        raise BadInput("no such file", shown, instead) from None
    except UnicodeDecodeError as error:
        where = f"{shown}:byte {error.start}"
        raise BadInput("the file is not UTF-8", where, "save it as UTF-8") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        what = f"cannot be read ({why})"
        raise BadInput(what, shown, "name a readable file") from None


def _a_file_in(folder: Path, name: str = "") -> str:
    names = [one.name for one in folder.glob("*.toml")] if folder.is_dir() else []
    return nearest(name, names) if names else "name a TOML file"


def _syntax(message: str, shown: str) -> BadInput:
    found = re.search(r"\s*\(at line (\d+), column (\d+)\)$", message)
    if found is None:
        what, where = re.sub(r"\s*\(at end of document\)$", "", message), "its end"
    else:
        what, where = message[: found.start()], f"{found[1]}:{found[2]}"
    return BadInput(f"TOML syntax: {what}", f"{shown}:{where}", "write TOML 1.0")


def below(folder: Path, name: str, where: Where) -> Path:
    """
    The file of that name in *folder* or below it.

    Refuses a name that leads out of the folder.
    """
    parts = PurePosixPath(name).parts
    outside = not parts or name.startswith("/") or ".." in parts or "\\" in name
    if outside or ":" in name or "\0" in name:
        raise BadInput(
            f"{name!r} leads out of its folder", where, "write a name without .. or /"
        )
    return folder.joinpath(*parts)
