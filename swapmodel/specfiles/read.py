"""
Which specs are there, and what does one of them say?

Loading a spec runs no code: it is names, and each name is looked up.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar, get_args

from swapmodel.semantics.spec import Spec
from swapmodel.specfiles import checks
from swapmodel.specfiles.files import below, read_toml, shown_path, specs_folder
from swapmodel.specfiles.rules import invariants, rules
from swapmodel.specfiles.schema import BadInput, Table, nearest
from swapmodel.state.events import Path as PathTaken

__all__ = [
    "invariants",
    "load_spec",
    "load_specs",
    "paths_of",
    "release_ids",
    "releases_between",
    "rules",
    "spec_file",
    "spec_ids",
    "specs_folder",
]

R = TypeVar("R")

KEYS = (
    "id",
    "statement",
    "extends",
    "measured",
    "placed",
    "operations",
    "refused",
    "choose",
    "messages",
    "differs",
)

DIFFERS = "differs"
"""What a proposal says of causes; `specfiles.differences` reads it."""


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.removeprefix("torch-").split("."))


@cache
def release_ids() -> tuple[str, ...]:
    """The groups of releases, oldest first."""
    names = [path.stem for path in (specs_folder() / "releases").glob("torch-*.toml")]
    return tuple(sorted(names, key=_version))


@cache
def spec_ids() -> tuple[str, ...]:
    """Every spec: the groups of releases, oldest first, then the proposals."""
    proposals = (specs_folder() / "proposals").glob("*.toml")
    return (*release_ids(), *sorted(path.stem for path in proposals))


def load_spec(name_or_path: str) -> Spec:
    """
    Read a spec: by id, by the number of a release, or from a file anywhere.

    A number such as `2.5.1` or `2.5` finds the group that the release belongs to.
    """
    return _load(spec_file(name_or_path), ())


def spec_file(name_or_path: str) -> Path:
    """The file that `load_spec` reads."""
    path = _file_of(name_or_path) or _file_of_release(name_or_path)
    if path is not None:
        return path
    if name_or_path.endswith(".toml") or os.sep in name_or_path:
        return Path(name_or_path)
    what = f"unknown spec {name_or_path!r}"
    raise BadInput(what, "command line", nearest(name_or_path, spec_ids()))


def load_specs(names: Iterable[str]) -> tuple[Spec, ...]:
    """Read the specs that a command line names; each once, however it is spelled."""
    found: dict[str, str] = {}
    specs = []
    for name in names:
        spec = load_spec(name)
        if spec.id in found:
            what = f"{name!r} and {found[spec.id]!r} are both {spec.id}"
            raise BadInput(what, "command line", "name it once")
        found[spec.id] = name
        specs.append(spec)
    return tuple(specs)


def _file_of(name: str) -> Path | None:
    if name not in spec_ids():
        return None
    folder = "releases" if name in release_ids() else "proposals"
    return specs_folder() / folder / f"{name}.toml"


def _file_of_release(name: str) -> Path | None:
    number = name.removeprefix("torch-").partition("+")[0]
    for one in release_ids():
        path = specs_folder() / "releases" / f"{one}.toml"
        root = read_toml(path)
        for release in (*root.texts("measured", ()), *root.texts("placed", ())):
            if release == number or release.startswith(f"{number}."):
                return path
        if one == f"torch-{number}":
            return path
    return None


def _load(path: Path, above: tuple[Path, ...]) -> Spec:
    root = read_toml(path)
    root.only(KEYS)
    name = root.text("id")
    if name != path.stem:
        what = f"id {name!r} is not the file's name"
        raise root.bad("id", what, f"write {path.stem}")
    own = _file_of(name)
    if own is not None and own.resolve() != path.resolve():
        what = f"{name!r} is the id of {shown_path(own)}"
        raise root.bad("id", what, "name file and id otherwise")
    base = _base(root, path, above)
    if base is None and DIFFERS in root:
        raise root.bad(DIFFERS, "a release differs from nothing", "leave it out")
    spec = _merged(root, name, base)
    checks.whole(dict(spec.operations), spec.choices, root)
    return spec


def _base(root: Table, path: Path, above: tuple[Path, ...]) -> Spec | None:
    if "extends" not in root:
        return None
    for key in ("measured", "placed"):
        if key in root:
            what = "a proposal is no release, and no release was measured for it"
            raise root.bad(key, what, "leave it out")
    name, where = root.text("extends"), root.where.key("extends")
    beside = below(path.parent, f"{name}.toml", where)
    target = _file_of(name) or beside
    chain = tuple(one.resolve() for one in (*above, path))
    if target.resolve() in chain:
        names = [*(one.stem for one in (*above, path)), name]
        what = f"{' extends '.join(names)}: a circle"
        raise BadInput(what, where, "extend a release")
    if not target.exists():
        raise BadInput(f"unknown spec {name!r}", where, nearest(name, release_ids()))
    if above:
        what = f"{shown_path(above[-1])} extends what itself extends {name!r}"
        raise BadInput(what, where, "extend a release: one level is allowed")
    return _load(target, (*above, path))


def _merged(root: Table, name: str, base: Spec | None) -> Spec:
    empty = base is not None
    operations = checks.phases(root.table("operations", required=not empty))
    refused = checks.handlers(root.table("refused", required=False))
    choices = checks.choices(root.table("choose", required=not empty))
    messages = checks.messages(root.table("messages", required=False))
    if base is not None:
        operations = _over(base.operations, operations)
        refused = _over(base.refused, refused)
        choices = _over(base.choices, choices)
        messages = _over(base.messages, messages)
    return Spec(
        id=name,
        operations=operations,
        refused=refused,
        choices=choices,
        messages=messages,
        base=None if base is None else base.id,
        statement=root.text("statement"),
        measured=root.texts("measured", ()),
        placed=root.texts("placed", ()),
    )


def _over(
    base: tuple[tuple[str, R], ...], own: tuple[tuple[str, R], ...]
) -> tuple[tuple[str, R], ...]:
    """Replace, entry by entry, what the base says under the same name."""
    return tuple((dict(base) | dict(own)).items())


def paths_of(spec: Spec) -> tuple[PathTaken, ...]:
    """The paths that a spec has at all, in the order of `state.events`."""
    chosen = {row.path for _, rows in spec.choices for row in rows}
    if spec.has("convert_buffer"):
        chosen.add("replace")
    if spec.has("load_state_dict"):
        chosen.add("copy")
    return tuple(
        path for path in get_args(PathTaken) if path in chosen or path == "direct"
    )


def releases_between(table: Table) -> tuple[str, ...]:
    """
    Read `since` and `until`: the groups from one to before the other.

    Either may be left out and is open then.
    """
    ids = release_ids()
    numbers = [one.removeprefix("torch-") for one in ids]
    since = table.one_of("since", numbers, "release group", numbers[0])
    until = table.one_of("until", numbers, "release group", "")
    first = numbers.index(since)
    last = numbers.index(until) if until else len(ids)
    if first >= last:
        raise table.bad("until", f"{until} is not after {since}", "write a later group")
    return ids[first:last]


def all_specs(table: Table) -> tuple[str, ...]:
    """Read which specs something is about: `specs`, or `since` and `until`."""
    if "specs" not in table:
        return releases_between(table)
    for key in ("since", "until"):
        if key in table:
            raise table.bad(key, "both this and specs", "write one of the two")
    found = table.each_of("specs", spec_ids(), "spec")
    if not found:
        raise table.bad("specs", "no spec", nearest("", spec_ids()))
    return found
