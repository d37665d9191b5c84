"""
How is an action written as a table, and a table read as an action?

`do` is the action's name, the rest are its fields; both come from `swapmodel.actions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import attrs

from swapmodel.actions import ACTIONS, Action
from swapmodel.specfiles.schema import (
    KNOWN,
    BadInput,
    Table,
    Where,
    checked_variable,
    nearest,
    unknown,
)


def snake_case(kind: type) -> str:
    """The name of a class as our files write it."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


KINDS: Mapping[str, type[Action]] = {snake_case(kind): kind for kind in ACTIONS}


# -- Reading -----------------------------------------------------------------------


def action_from_table(
    table: Mapping[str, object], where: Where | str, beside: tuple[str, ...] = ()
) -> Action:
    """Read an action; *beside* names keys of the table that are no fields of it."""
    place = Where(where) if isinstance(where, str) else where
    root = Table(table, place)
    kind = KINDS[root.one_of("do", KINDS, "action")]
    return cast(Action, _record(kind, root, ("do", *beside)))


def actions_from_table(
    table: Mapping[str, object], where: Where | str
) -> tuple[Action, ...]:
    """Read a template: a list in place of a value stands for each of its values."""
    found = tuple(action_from_table(one, where) for one in _expanded(table))
    if not found:
        raise BadInput("a list of no values", where, "write at least one value")
    return found


def _expanded(value: object) -> Iterator[Any]:
    if isinstance(value, Mapping):
        options = [list(_expanded(one)) for one in value.values()]
        for chosen in product(*options):
            yield dict(zip(value, chosen, strict=True))
    elif isinstance(value, list):
        for one in value:
            yield from _expanded(one)
    else:
        yield value


def _record(kind: type, table: Table, beside: tuple[str, ...]) -> object:
    fields = {one.name: one for one in attrs.fields(cast(Any, kind))}
    table.only((*fields, *beside))
    hints = get_type_hints(kind, include_extras=True)
    read = {
        name: _value(table, name, hints[name])
        for name, one in fields.items()
        if name in table or one.default is attrs.NOTHING
    }
    return kind(**read)


def _value(table: Table, name: str, hint: Any) -> object:
    if get_origin(hint) is Literal:
        return table.one_of(name, get_args(hint), name)
    if get_origin(hint) is Annotated:
        return table.place(name)
    if name == "name":
        return checked_variable(table.text(name), table.where.key(name))
    if name == "dtype":
        return table.dtype(name)
    if name == "device":
        return table.device(name)
    if hint is str:
        known = KNOWN.get(name)
        return table.name(name) if known is None else table.one_of(name, known, name)
    if hint is bool:
        return table.flag(name)
    if hint is int:
        return table.number(name)
    return _one_record(table.table(name), _members(hint))


def _members(hint: Any) -> dict[str, type]:
    many = get_origin(hint) in (Union, UnionType)
    return {snake_case(one): one for one in (get_args(hint) if many else (hint,))}


def _one_record(table: Table, members: Mapping[str, type]) -> object:
    """Read `{ cast = { dtype = "float64" } }`: the one key says which record it is."""
    if len(table.rows) != 1:
        what = "exactly one key says what it is"
        raise BadInput(what, table.where, nearest("", members))
    (key,) = table.rows
    if key not in members:
        raise unknown("key", key, members, table.where.key(key))
    return _record(members[key], table.table(key), ())


# -- Writing -----------------------------------------------------------------------


def table_of(action: Action) -> dict[str, object]:
    """Write an action as a table."""
    return {"do": snake_case(type(action)), **_fields(action)}


def _fields(record: Any) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in attrs.asdict(record, recurse=False).items():
        nested = attrs.has(type(value))
        found[name] = {snake_case(type(value)): _fields(value)} if nested else value
    return found
