"""
Which tables of the documentation are generated, and from which data?

A file says where: between a comment that names the table and one that ends it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, get_args

from swapmodel.semantics.spec import Row, Spec
from swapmodel.specfiles.claims import known_causes
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.goals import KINDS, goals
from swapmodel.specfiles.provenance import read_provenance, recordings
from swapmodel.specfiles.read import load_spec, paths_of, release_ids, spec_ids
from swapmodel.specfiles.rules import invariants, rules
from swapmodel.specfiles.schema import BadInput, unknown
from swapmodel.specfiles.scopes import load_scope, scope_ids, scope_specs
from swapmodel.state.events import Path as PathTaken

R = TypeVar("R")

FILES = ("specs/README.md", "README.md")
"""The files that hold generated tables, by path from the top."""

BLOCK = re.compile(r"<!-- table: ([a-z-]+) -->\n(.*?)<!-- end -->\n", re.DOTALL)


def generated() -> dict[str, str]:
    """Every file with generated tables as it should be, by path from the top."""
    top = specs_folder().parent
    return {name: _fresh(top, name) for name in FILES if (top / name).is_file()}


def _fresh(top: Path, name: str) -> str:
    text = (top / name).read_text(encoding="utf-8")

    def block(found: re.Match[str]) -> str:
        if found[1] not in TABLES:
            raise unknown("table", found[1], TABLES, name)
        table = "".join(TABLES[found[1]]())
        return f"<!-- table: {found[1]} -->\n{table}<!-- end -->\n"

    fresh = BLOCK.sub(block, text)
    if text.count("<!-- table:") != len(BLOCK.findall(text)):
        what = "a generated table without its end"
        raise BadInput(what, name, "write <!-- end --> on a line of its own")
    return fresh


# -- Tables ------------------------------------------------------------------------


def rows_of(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Write a table of Markdown, a line each."""
    for row in (head, ["---"] * len(head), *rows):
        cells = (" ".join(str(cell).split()).replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(cells)} |\n"


def _specs() -> list[Spec]:
    return [load_spec(one) for one in spec_ids()]


def releases_table() -> Iterator[str]:
    """Every spec with the releases that it stands for."""
    rows = (
        [f"`{one.id}`", one.statement, ", ".join(one.measured), ", ".join(one.placed)]
        for one in _specs()
    )
    yield from rows_of(("spec", "what it is", "measured", "placed"), rows)


def operations_table() -> Iterator[str]:
    """The phases of every operation, once for the specs that agree on them."""
    names = dict.fromkeys(name for one in _specs() for name, _ in one.operations)
    rows = (
        [f"`{name}`", specs, " → ".join(phases)]
        for name in names
        for specs, phases in _agreeing(
            {one.id: dict(one.operations).get(name) for one in _specs()}
        )
    )
    yield from rows_of(("operation", "specs", "phases"), rows)


def choices_table() -> Iterator[str]:
    """The rows of every choice, once for the specs that agree on them."""
    names = dict.fromkeys(name for one in _specs() for name, _ in one.choices)
    rows = (
        [f"`{name}`", specs, "; ".join(_told(row) for row in listed)]
        for name in names
        for specs, listed in _agreeing(
            {one.id: dict(one.choices).get(name) for one in _specs()}
        )
    )
    yield from rows_of(("choice", "specs", "the first row that applies"), rows)


def _told(row: Row) -> str:
    when = f" if {' and '.join(row.predicates)}" if row.predicates else ""
    return f"{row.path}{when}"


def _agreeing(
    by_spec: Mapping[str, tuple[R, ...] | None],
) -> Iterator[tuple[str, tuple[R, ...]]]:
    for value in dict.fromkeys(one for one in by_spec.values() if one is not None):
        yield ", ".join(name for name, one in by_spec.items() if one == value), value


def rules_table() -> Iterator[str]:
    """Every rule with what it raises."""
    rows = (
        [f"`{one.id}`", one.statement, ", ".join(one.raises) or "nothing", one.symbol]
        for one in rules().values()
    )
    yield from rows_of(("rule", "statement", "raises", "in torch"), rows)


def invariants_table() -> Iterator[str]:
    """Every invariant with why it matters."""
    rows = ([f"`{one.id}`", one.statement, one.why] for one in invariants().values())
    yield from rows_of(("invariant", "claim", "why it matters"), rows)


def scopes_table() -> Iterator[str]:
    """Every scope with its bounds and what is pinned of it."""
    rows = []
    for name in scope_ids():
        one, specs = load_scope(name), scope_specs(name)
        counts = dict.fromkeys(count for _, count in one.pinned)
        pinned = ", ".join(f"{count:,}" for count in counts)
        span = specs[0] if len(specs) == 1 else f"{specs[0]} to {specs[-1]}"
        numbers = (len(one.starts), len(one.actions), one.depth)
        rows.append([f"`{name}`", one.statement, span, *map(str, numbers), pinned])
    head = ("scope", "what it is", "specs", "starts", "actions", "depth", "heaps")
    yield from rows_of(head, rows)


def goals_table() -> Iterator[str]:
    """Which scopes reach what; a refusal that none of them does is told as well."""
    known = goals()
    names = {("rules", one.id): () for one in rules().values() if one.raises} | known
    rows = (
        [kind.removesuffix("s"), f"`{name}`", ", ".join(scopes) or "none"]
        for (kind, name), scopes in sorted(
            names.items(), key=lambda one: (KINDS.index(one[0][0]), one[0][1])
        )
    )
    yield from rows_of(("kind", "what", "scopes that reach it"), rows)


def claims_table() -> Iterator[str]:
    """Every known violation with its witness."""
    rows = []
    for one in known_causes():
        cause, specs = one.cause, one.specs
        span = specs[0] if len(specs) == 1 else f"{specs[0]} to {specs[-1]}"
        witness = f"[{one.scope}](scenarios/{one.scenario})"
        told = (cause.invariant, cause.path, cause.kind, f"`{cause.phase}`")
        rows.append([*told, span, witness])
    head = ("invariant", "path", "place", "first false after", "specs", "witness")
    yield from rows_of(head, rows)


def verdicts_table() -> Iterator[str]:
    """What is broken on which path under the newest release, in causes."""
    counts, columns = _causes(), _paths()
    newest = release_ids()[-1]
    rows = (
        [f"`{name}`", *(str(counts[name, path][newest] or "holds") for path in columns)]
        for name in invariants()
    )
    yield from rows_of((newest, *columns), rows)


def history_table() -> Iterator[str]:
    """What is broken by more causes, or fewer, under one release than another."""
    ids = release_ids()
    taken = {one: paths_of(load_spec(one)) for one in ids}
    rows = [
        [f"`{name}`", path]
        + [str(known[one] or "holds") if path in taken[one] else "-" for one in ids]
        for (name, path), known in _causes().items()
    ]
    changed = (row for row in rows if len({*row[2:]}) > 1 and {*row[2:]} - UNBROKEN)
    yield from rows_of(("invariant", "path", *ids), changed)


UNBROKEN = {"holds", "-"}
"""What a cell of a path says that breaks nothing, or that a release has not."""


def _causes() -> dict[tuple[str, str], Counter[str]]:
    """How many causes break an invariant on a path, under each spec."""
    found = {(name, path): Counter[str]() for name in invariants() for path in _paths()}
    for one in known_causes():
        found[one.cause.invariant, one.cause.path].update(one.specs)
    return found


def _paths() -> tuple[str, ...]:
    """The paths on which anything is known to be broken."""
    taken = {one.cause.path for one in known_causes()}
    return tuple(path for path in get_args(PathTaken) if path in taken)


def recordings_table() -> Iterator[str]:
    """Every recording with where it comes from."""
    rows = []
    for path in recordings():
        one = read_provenance(path)
        told = (one.build, one.git[:12], one.device, one.date, f"{one.programs:,}")
        left_out = sum(one.left_out.values())
        rows.append([load_spec(one.torch).id, *told, str(left_out), one.sha256[:16]])
    head = ("spec", "torch", "git", "device", "date", "programs", "left out", "hash")
    yield from rows_of(head, rows)


TABLES: Mapping[str, Callable[[], Iterator[str]]] = {
    "releases": releases_table,
    "operations": operations_table,
    "choices": choices_table,
    "rules": rules_table,
    "invariants": invariants_table,
    "scopes": scopes_table,
    "goals": goals_table,
    "claims": claims_table,
    "verdicts": verdicts_table,
    "history": history_table,
    "recordings": recordings_table,
}
"""What a file can ask for."""
