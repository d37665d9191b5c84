"""
What do the entries of `specs/rules/` and `specs/invariants.toml` say?
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from attrs import fields, frozen

from swapmodel.specfiles.files import read_toml, specs_folder
from swapmodel.specfiles.schema import BadInput, Table


@frozen(kw_only=True)
class Rule:
    """One refusal or noteworthy effect."""

    id: str
    statement: str

    symbol: str
    """The function of torch that does it."""

    raises: tuple[str, ...]
    """The types of the exception; none for an effect."""

    evidence: str
    """How it is known: by running which releases, or by reading which source."""

    source: str = ""
    """A permanent link to the line of torch 2.13.0 that does it."""

    prs: tuple[int, ...] = ()
    """Pull requests of pytorch/pytorch that made it what it is."""

    cited: bool = True
    """Whether code cites it; false for what is told and not modelled."""


@frozen(kw_only=True)
class Claim:
    """What an invariant claims, and why anybody should care."""

    id: str
    statement: str
    why: str


@cache
def rules() -> Mapping[str, Rule]:
    """Read every rule, by id."""
    found: dict[str, Rule] = {}
    for path in sorted((specs_folder() / "rules").glob("*.toml")):
        root = read_toml(path)
        root.only(["rule"])
        for table in root.tables("rule"):
            one = _rule(table)
            _once(one.id, found, table)
            found[one.id] = one
    return found


def _rule(table: Table) -> Rule:
    table.only(field.name for field in fields(Rule))
    return Rule(
        id=table.text("id"),
        statement=table.text("statement"),
        symbol=table.text("symbol"),
        raises=table.texts("raises"),
        evidence=table.text("evidence"),
        source=table.text("source", ""),
        prs=table.numbers("prs", ()),
        cited=table.flag("cited", True),
    )


@cache
def invariants() -> Mapping[str, Claim]:
    """Read what every invariant claims, by id."""
    root = read_toml(specs_folder() / "invariants.toml")
    root.only(["invariant"])
    found: dict[str, Claim] = {}
    for table in root.tables("invariant"):
        table.only(["id", "statement", "why"])
        one = Claim(
            id=table.text("id"),
            statement=table.text("statement"),
            why=table.text("why"),
        )
        _once(one.id, found, table)
        found[one.id] = one
    return found


def _once(name: str, found: Mapping[str, object], table: Table) -> None:
    if name in found:
        where = table.where.key("id")
        raise BadInput(f"{name!r} has two entries", where, "keep one of them")
