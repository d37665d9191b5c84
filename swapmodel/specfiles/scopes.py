"""
Which exhaustive searches are there, and over what does each range?
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from swapmodel.actions import ACTIONS, Action
from swapmodel.search.scope import Scope
from swapmodel.specfiles.actions import actions_from_table
from swapmodel.specfiles.files import read_toml, shown_path, specs_folder
from swapmodel.specfiles.given import KEYS as GIVEN
from swapmodel.specfiles.given import heap_from_given
from swapmodel.specfiles.read import all_specs
from swapmodel.specfiles.schema import BadInput, Table, nearest, unknown
from swapmodel.state.heap import Heap

KEYS = (
    "id",
    "statement",
    "set",
    "depth",
    "since",
    "until",
    "specs",
    "actions",
    "start",
    "heaps",
)

SETS = ("standard", "nightly")
"""How often a scope is searched; each set includes the ones before it."""


@cache
def scope_ids() -> tuple[str, ...]:
    """Every scope, sorted."""
    return tuple(sorted(one.stem for one in (specs_folder() / "scopes").glob("*.toml")))


def scopes_of(name: str) -> tuple[str, ...]:
    """The scopes of a set: `standard`, or `nightly` for the rest as well."""
    if name not in SETS:
        raise unknown("set of scopes", name, SETS, "command line")
    allowed = SETS[: SETS.index(name) + 1]
    return tuple(
        one for one in scope_ids() if _root(one).text("set", SETS[0]) in allowed
    )


def load_scope(name_or_path: str) -> Scope:
    """Read a scope, by id or from a file anywhere."""
    root = _root(name_or_path)
    depth = root.number("depth")
    if depth < 1:
        raise root.bad("depth", f"{depth} is no depth", "write 1 or more")
    return Scope(
        id=root.text("id"),
        statement=root.text("statement"),
        starts=tuple(_starts(root)),
        actions=_actions(root),
        depth=depth,
        pinned=_pinned(root),
    )


def scope_specs(name_or_path: str) -> tuple[str, ...]:
    """Under which specs a scope is searched."""
    return all_specs(_root(name_or_path))


def _root(name_or_path: str) -> Table:
    path = Path(name_or_path)
    if name_or_path in scope_ids():
        path = specs_folder() / "scopes" / f"{name_or_path}.toml"
    elif path.suffix != ".toml":
        what = f"unknown scope {name_or_path!r}"
        raise BadInput(what, "command line", nearest(name_or_path, scope_ids()))
    root = read_toml(path)
    root.only(KEYS)
    root.one_of("set", SETS, "set of scopes", SETS[0])
    if root.text("id") != path.stem:
        what = f"id {root.text('id')!r} is not the file's name"
        raise root.bad("id", what, f"write {path.stem}")
    own = specs_folder() / "scopes" / path.name
    if own.exists() and own.resolve() != path.resolve():
        what = f"{path.stem!r} is the id of {shown_path(own)}"
        raise root.bad("id", what, "name file and id otherwise")
    return root


def _starts(root: Table) -> Iterator[tuple[str, Heap]]:
    seen: set[str] = set()
    for table in root.tables("start"):
        name = table.text("id")
        if name in seen:
            raise table.bad("id", f"{name!r} starts twice", "write another id")
        seen.add(name)
        yield name, heap_from_given(table.rows, table.where, ("id", *GIVEN))
    if not seen:
        raise root.bad("start", "no start heap", "write at least one [[start]]")


def _actions(root: Table) -> tuple[Action, ...]:
    """
    Read the actions, in the order in which a search tries them.

    By kind as `ACTIONS` lists them, then as in the file, each once.
    """
    found: list[Action] = []
    for table in root.tables("actions"):
        found.extend(actions_from_table(table.rows, table.where))
    if not found:
        raise root.bad("actions", "no action", "write at least one [[actions]]")
    once = dict.fromkeys(found)
    return tuple(sorted(once, key=lambda action: ACTIONS.index(type(action))))


def _pinned(root: Table) -> tuple[tuple[str, int], ...]:
    table = root.table("heaps", required=False)
    table.only(all_specs(root))
    for name in table.rows:
        if table.number(name) < 1:
            what = f"{table.number(name)} heaps: not even a start heap"
            raise table.bad(name, what, "write how many the search finds")
    return tuple((name, table.number(name)) for name in table.rows)
