"""
Which causes does a proposal mend or add, beside the release that it extends?

What its file lists under `[[differs]]`; in everything else it is as its base.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import evolve

from swapmodel.run import Counterexample
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles import toml
from swapmodel.specfiles.claims import KnownCause, cause_of, known_causes
from swapmodel.specfiles.files import read_toml
from swapmodel.specfiles.read import DIFFERS, load_spec, spec_file
from swapmodel.specfiles.schema import Table
from swapmodel.specfiles.scopes import scope_ids

HOLDS, VIOLATED = "holds", "violated"


def known_under(names: Iterable[str]) -> tuple[KnownCause, ...]:
    """Every claim, and what those of the specs that are proposals list as different."""
    known = list(known_causes())
    for name in names:
        path, spec = spec_file(name), load_spec(name)
        for table in read_toml(path).tables(DIFFERS, required=False):
            _add(known, table, spec)
    return tuple(known)


def _add(known: list[KnownCause], table: Table, spec: Spec) -> None:
    """Add one difference to the claims, or take what it mends off the proposal."""
    table.only(["now", "invariant", "path", "phase", "kind", "scope"])
    cause, base = cause_of(table), spec.base
    scope = table.one_of("scope", scope_ids(), "scope")
    now = table.one_of("now", (HOLDS, VIOLATED), "verdict")
    same = [one for one in known if one.cause == cause and base in one.specs]
    if (now == HOLDS) != bool(same):
        what = f"{base} {'has this cause as well' if same else 'has no such cause'}"
        raise table.bad("now", what, "list differences alone")
    if any(one.cause == cause and spec.id in one.specs for one in known) or any(
        spec.id in one.mended for one in same
    ):
        raise table.bad("now", "the same difference is listed twice", "keep one")
    if now == VIOLATED:
        known.append(
            KnownCause(cause=cause, specs=(spec.id,), scope=scope, scenario="")
        )
    for one in same:
        known[known.index(one)] = evolve(one, mended=(*one.mended, spec.id))


def differing(name: str, found: Iterable[Counterexample]) -> str:
    """The file of a proposal with what these counterexamples say it has to list."""
    path, spec = spec_file(name), load_spec(name)
    own = path.read_text(encoding="utf-8").partition(f"[[{DIFFERS}]]")[0].rstrip()
    rows = sorted(
        _rows(spec, [one for one in found if one.spec == spec.id]),
        key=lambda row: tuple(row.values()),
    )
    listed = toml.document({DIFFERS: rows}) if rows else ""
    return "\n\n".join(part for part in (own, listed.rstrip()) if part) + "\n"


def _rows(spec: Spec, found: list[Counterexample]) -> Iterator[dict[str, str]]:
    base = {one.cause: one.scope for one in known_causes() if spec.base in one.specs}
    there = {one.cause: one.scope for one in reversed(found)}
    for now, listed, other in ((HOLDS, base, there), (VIOLATED, there, base)):
        for cause, scope in listed.items():
            if cause not in other:
                yield {
                    "now": now,
                    "invariant": cause.invariant,
                    "path": cause.path,
                    "phase": cause.phase,
                    "kind": cause.kind,
                    "scope": scope,
                }
