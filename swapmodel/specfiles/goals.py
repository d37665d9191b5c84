"""
What does each scope come to, so that "it holds" is said of more than nothing?

A goal is a rule that refuses, a path that is taken or an invariant that is broken
somewhere in a scope, under one of its specs; a scope that reaches it no more is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from swapmodel.search.explore import Exploration
from swapmodel.specfiles import toml
from swapmodel.specfiles.files import read_toml, specs_folder
from swapmodel.specfiles.scopes import scope_ids, scope_specs

FILE = "goals.toml"

KINDS = ("rules", "paths", "invariants")


def goals() -> dict[tuple[str, str], tuple[str, ...]]:
    """Read which scopes reach what, by kind and id."""
    root = read_toml(specs_folder() / FILE)
    root.only(KINDS)
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for kind in KINDS:
        table = root.table(kind)
        for name in table.rows:
            found[kind, name] = table.each_of(name, scope_ids(), "scope")
    return found


def reached(explorations: Iterable[Exploration]) -> dict[tuple[str, str], set[str]]:
    """Which scopes reach what, as far as these searches have come."""
    found: dict[tuple[str, str], set[str]] = {}
    for one in explorations:
        broken = {ours.cause.invariant for ours in one.counterexamples}
        for kind, names in zip(KINDS, (one.rules, one.paths, broken), strict=True):
            for name in names:
                found.setdefault((kind, name), set()).add(one.scope)
    return found


def goals_text(explorations: Iterable[Exploration]) -> str:
    """Write the file of goals as these searches would have it."""
    tables: dict[str, dict[str, list[str]]] = {kind: {} for kind in KINDS}
    for (kind, name), scopes in sorted(reached(explorations).items()):
        tables[kind][name] = sorted(scopes)
    return toml.document(tables)


def missed(
    claimed: Mapping[tuple[str, str], Iterable[str]],
    explorations: Iterable[Exploration],
) -> Iterator[str]:
    """
    Yield the goals that a scope has not reached.

    A scope that was not searched to its end under each of its specs is not judged.
    """
    searched = tuple(explorations)
    there = reached(searched)
    judged = {
        name
        for name in {one.scope for one in searched} & {*scope_ids()}
        if {*scope_specs(name)}
        <= {one.spec for one in searched if one.scope == name and one.complete}
    }
    for (kind, name), scopes in claimed.items():
        for scope in sorted({*scopes} & judged - there.get((kind, name), set())):
            yield f"{scope} does not reach {kind.removesuffix('s')} {name} any more"
