"""
Can a spec be run?  Every name is known, and every phase finds what it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast, get_args

from swapmodel.semantics import step
from swapmodel.semantics.spec import HANDLERS, OPERATIONS, PHASES, PREDICATES, Row
from swapmodel.specfiles.rules import rules
from swapmodel.specfiles.schema import BadInput, Table, Where, nearest, unknown
from swapmodel.specfiles.texts import unknown_field
from swapmodel.state.events import Path

REGISTERED = step
"""Importing it registers every operation, phase, handler and predicate."""

Phases = tuple[tuple[str, tuple[str, ...]], ...]
Choices = tuple[tuple[str, tuple[Row, ...]], ...]

OPTIONAL = ("swap_tensors",)
"""Operations that a release can be without."""

CALLS = {"swap": "swap_tensors", "data": "set_data"}
"""What the operation of a path calls: `convert_parameter/swap` calls `swap_tensors`."""


def phases(table: Table) -> Phases:
    """Read `[operations]`: the phases of each operation, in order."""
    found = []
    for name in table.rows:
        if name not in OPERATIONS:
            raise unknown("operation", name, OPERATIONS, table.where.key(name))
        known = [one for operation, one in PHASES if operation == name]
        listed = table.each_of(name, known, "phase")
        where = table.where.key(name)
        _once_each("phase", listed, where)
        _read_after_set(name, listed, where)
        found.append((name, listed))
    return tuple(found)


def _once_each(what: str, names: tuple[str, ...], where: Where) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            place = where.item(index)
            raise BadInput(f"{what} {name!r} is named twice", place, "name it once")


def _read_after_set(operation: str, names: tuple[str, ...], where: Where) -> None:
    there = set(OPERATIONS[operation].gives)
    for index, name in enumerate(names):
        phase = PHASES[operation, name]
        for local in phase.reads:
            if local in there:
                continue
            makers = [
                other
                for (one, other), maker in PHASES.items()
                if one == operation and local in maker.sets
            ]
            first = f"put {' or '.join(makers)} before it" if makers else "leave it out"
            what = f"phase {name!r} reads {local!r}, which is not there yet"
            raise BadInput(what, where.item(index), first)
        there.update(phase.sets)


def handlers(table: Table) -> Phases:
    """Read `[refused]`: what each operation does when it is refused, in order."""
    found = []
    for name in table.rows:
        known = [one for operation, one in HANDLERS if operation == name]
        if not known:
            names = {operation for operation, _ in HANDLERS}
            raise unknown("operation", name, names, table.where.key(name))
        listed = table.each_of(name, known, "phase")
        _once_each("phase", listed, table.where.key(name))
        found.append((name, listed))
    return tuple(found)


def choices(table: Table) -> Choices:
    """Read `[[choose.NAME]]`: the rows of each choice, in order."""
    known = {choice for choice, _ in PREDICATES}
    found = []
    for name in table.rows:
        if name not in known:
            raise unknown("choice", name, known, table.where.key(name))
        found.append((name, _rows(name, table.tables(name))))
    return tuple(found)


def _rows(choice: str, tables: tuple[Table, ...]) -> tuple[Row, ...]:
    predicates = [one for other, one in PREDICATES if other == choice]
    rows: list[Row] = []
    for table in tables:
        table.only(["path", "all"])
        path = table.one_of("path", get_args(Path), "path")
        row = Row(cast(Path, path), table.each_of("all", predicates, "predicate", ()))
        if rows and not rows[-1].predicates:
            raise table.bad(
                "path", "a row after the one that always applies", "put that one last"
            )
        rows.append(row)
    if rows and rows[-1].predicates:
        raise tables[-1].bad("all", "the last row has predicates", "leave `all` out")
    return tuple(rows)


def messages(table: Table) -> tuple[tuple[str, str], ...]:
    """Read `[messages]`: torch's text for each rule."""
    for name in table.rows:
        if name not in rules():
            raise unknown("rule", name, rules(), table.where.key(name))
        asked = unknown_field(table.text(name, ""))
        if asked is not None:
            raise unknown(*asked, table.where.key(name))
    return tuple((name, table.text(name, "")) for name in table.rows)


# -- What only the whole spec shows ----------------------------------------------------


def whole(
    operations: Mapping[str, tuple[str, ...]], rows: Choices, root: Table
) -> None:
    """
    Refuse a spec that leaves out an operation that one of its own parts calls.

    And one whose operation for a path does not set what its caller reads afterwards.
    """
    where = root.where.key("operations")
    for name in OPERATIONS:
        if "/" not in name and name not in OPTIONAL and name not in operations:
            raise _missing("operation", name, where, f"write {name} = [...]")
    for name in operations:
        called = CALLS.get(name.partition("/")[2])
        if called is not None and called not in operations:
            what = f"operation {name!r} calls {called!r}, which is missing"
            raise BadInput(what, where.key(name), f"write {called} = [...]")
        _sets_what_is_read(name, operations[name], where)
    for choice, listed in rows:
        place = root.where.key("choose").key(choice)
        for index, row in enumerate(listed):
            _has_operation(choice, row.path, operations, place.item(index))
    for choice in sorted({one for one, _ in PREDICATES} - {one for one, _ in rows}):
        raise _missing("choice", choice, root.where, f"write [[choose.{choice}]]")


def _sets_what_is_read(name: str, phases: tuple[str, ...], where: Where) -> None:
    """Refuse `convert_parameter/data` if it sets nothing to go on with."""
    caller = PHASES.get((name.partition("/")[0], "convert"))
    if "/" not in name or caller is None:
        return
    done = {local for one in phases for local in PHASES[name, one].sets}
    for local in caller.sets:
        if local not in done:
            makers = [
                one
                for (operation, one), maker in PHASES.items()
                if operation == name and local in maker.sets
            ]
            what = f"operation {name!r} does not set {local!r}, which is read after it"
            raise BadInput(what, where.key(name), f"put {' or '.join(makers)} in it")


def _missing(what: str, name: str, where: Where, instead: str) -> BadInput:
    return BadInput(f"{what} {name!r} is missing", where, instead)


def _has_operation(
    choice: str, path: Path, operations: Mapping[str, object], where: Where
) -> None:
    start = f"convert_{choice}/"
    paths = [one.removeprefix(start) for one in OPERATIONS if one.startswith(start)]
    if path not in paths:
        what = f"no {choice} can take the path {path!r}"
        raise BadInput(what, where.key("path"), nearest(path, paths))
    name = f"{start}{path}"
    if name not in operations:
        instead = f'write "{name}" = [...] under [operations]'
        raise _missing("operation", name, where, instead)
