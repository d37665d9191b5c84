"""
Which violations are known, since which release, and which program shows each?
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import cast, get_args

from attrs import frozen

from swapmodel.actions import ACTIONS
from swapmodel.invariants.violation import Cause
from swapmodel.run import Counterexample
from swapmodel.semantics.places import PlaceKind
from swapmodel.semantics.spec import HANDLERS, PHASES
from swapmodel.specfiles import toml
from swapmodel.specfiles.files import below, read_toml, specs_folder
from swapmodel.specfiles.read import all_specs, load_spec, release_ids
from swapmodel.specfiles.rules import invariants
from swapmodel.specfiles.schema import BadInput, Table, unknown
from swapmodel.specfiles.scopes import scope_ids
from swapmodel.specfiles.write import body, scenario_text, span, write_texts
from swapmodel.state.events import Path

KEYS = (
    "invariant",
    "path",
    "phase",
    "kind",
    "since",
    "until",
    "specs",
    "scope",
    "scenario",
)


@frozen(kw_only=True)
class KnownCause:
    """A violation that is known; what is not listed is claimed to hold."""

    cause: Cause
    specs: tuple[str, ...]
    scope: str
    """The scope in which a search finds it."""

    scenario: str
    """The file below `specs/scenarios` that shows it; none for that of a proposal."""

    mended: tuple[str, ...] = ()
    """The proposals that extend one of those specs and do not have it."""


def known_causes() -> tuple[KnownCause, ...]:
    """Read every claim."""
    found: list[KnownCause] = []
    for path in sorted((specs_folder() / "claims").glob("*.toml")):
        root = read_toml(path)
        root.only(["claim"])
        for table in root.tables("claim"):
            one = _known(table)
            for other in found:
                if other.cause == one.cause and {*other.specs} & {*one.specs}:
                    what = "the same cause is listed twice for one spec"
                    raise BadInput(what, table.where, "keep one of them")
            found.append(one)
    return tuple(found)


def _known(table: Table) -> KnownCause:
    table.only(KEYS)
    cause = cause_of(table)
    scenario, where = table.text("scenario"), table.where.key("scenario")
    folder = specs_folder() / "scenarios"
    if not below(folder, scenario, where).is_file():
        names = [str(one.relative_to(folder)) for one in folder.rglob("*.toml")]
        raise unknown("scenario", scenario, names, where)
    return KnownCause(
        cause=cause,
        specs=all_specs(table),
        scope=table.one_of("scope", scope_ids(), "scope"),
        scenario=scenario,
    )


def cause_of(table: Table) -> Cause:
    """Read the keys that name a cause."""
    invariant = table.one_of("invariant", invariants(), "invariant")
    path = table.one_of("path", get_args(Path), "path")
    phase = table.one_of("phase", phase_names(), "phase")
    kind = table.one_of("kind", get_args(PlaceKind), "kind of place")
    return Cause(invariant, cast(Path, path), phase, cast(PlaceKind, kind))


def phase_names() -> tuple[str, ...]:
    """Everything that a cause can name: phases, `except` clauses, whole actions."""
    phases = (f"{operation}/{name}" for operation, name in PHASES)
    handled = (f"{operation}/refused" for operation, _ in HANDLERS)
    return (*phases, *dict.fromkeys(handled), *(kind.__name__ for kind in ACTIONS))


# -- Proposing -------------------------------------------------------------------------


def propose(found: Iterable[Counterexample]) -> dict[str, str]:
    """
    Write the claims that these counterexamples would need, with their witnesses.

    Paths are relative to the folder of specs.
    """
    texts: dict[str, str] = {}
    entries: dict[str, list[dict[str, object]]] = {}
    for cause, same in sorted(_by_cause(found).items(), key=lambda one: _order(one[0])):
        for number, group in enumerate(_groups(same)):
            first = group[0]
            name = f"found/{_slug(cause)}{f'-{number + 1}' if number else ''}.toml"
            specs = [one.spec for one in group]
            text = scenario_text(first, load_spec(first.spec), specs)
            texts[f"scenarios/{name}"] = text
            entries.setdefault(cause.invariant, []).append(
                {
                    "invariant": cause.invariant,
                    "path": cause.path,
                    "phase": cause.phase,
                    "kind": cause.kind,
                    **span(specs),
                    "scope": first.scope,
                    "scenario": name,
                }
            )
    for invariant, rows in entries.items():
        texts[f"claims/{invariant}.toml"] = toml.document({"claim": rows})
    return texts


def _by_cause(
    found: Iterable[Counterexample],
) -> dict[Cause, dict[str, Counterexample]]:
    """The first counterexample of each cause and spec."""
    causes: dict[Cause, dict[str, Counterexample]] = {}
    for one in found:
        known = causes.setdefault(one.cause, {})
        before = known.get(one.spec)
        if before is None or len(one.program) < len(before.program):
            known[one.spec] = one
    return causes


def _order(cause: Cause) -> tuple[str, ...]:
    return (cause.invariant, cause.path, cause.phase, cause.kind)


def _groups(same: Mapping[str, Counterexample]) -> Iterator[list[Counterexample]]:
    """Yield the longest spans of neighbouring releases that one scenario shows."""
    ids = [*release_ids(), *sorted(same.keys() - {*release_ids()})]
    group: list[Counterexample] = []
    text = ""
    for name in ids:
        one = same.get(name)
        told = "" if one is None else _told(one)
        if group and (told != text or name not in release_ids()):
            yield group
            group = []
        if one is not None:
            group.append(one)
        text = told
    if group:
        yield group


def _told(one: Counterexample) -> str:
    """What a scenario of a counterexample says, the specs left out."""
    return f"{one.scope}\n{toml.document(body(one, load_spec(one.spec)))}"


def _slug(cause: Cause) -> str:
    return re.sub(r"[^a-z0-9]+", "-", "-".join(_order(cause)).lower())


# -- Differences -----------------------------------------------------------------------

OWNED = ("claims/*.toml", "scenarios/found/*.toml")
"""The files that a proposal replaces as a whole."""


def _owned() -> set[str]:
    folder = specs_folder()
    return {p.relative_to(folder).as_posix() for one in OWNED for p in folder.glob(one)}


def replace(proposed: Mapping[str, str]) -> None:
    """Write what is proposed, and remove what it leaves out."""
    folder = specs_folder()
    write_texts(folder, proposed)
    for name in _owned() - proposed.keys():
        (folder / name).unlink()


def patch(proposed: Mapping[str, str]) -> str:
    """Write what a proposal would change as a patch, or nothing."""
    folder = specs_folder()
    parts: list[str] = []
    for name in sorted(_owned() | proposed.keys()):
        path = folder / name
        old = path.read_text(encoding="utf-8") if path.is_file() else ""
        parts.extend(_difference(name, old, proposed.get(name, "")))
    return "".join(parts)


def _difference(name: str, old: str, new: str) -> Sequence[str]:
    before = f"a/specs/{name}" if old else "/dev/null"
    after = f"b/specs/{name}" if new else "/dev/null"
    lines = unified_diff(old.splitlines(True), new.splitlines(True), before, after)
    return list(lines)
