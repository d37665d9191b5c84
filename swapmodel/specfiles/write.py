"""
How are files written, and how is a counterexample written as a scenario?
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from swapmodel.invariants.violation import Violation
from swapmodel.outcomes import Outcome, OutOfScope, Refused, Undefined
from swapmodel.run import Counterexample, run
from swapmodel.semantics import places
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles import toml
from swapmodel.specfiles.actions import table_of
from swapmodel.specfiles.expect import ABSENT, seen
from swapmodel.specfiles.read import release_ids
from swapmodel.specfiles.write_given import given_of
from swapmodel.state.heap import Heap

TOLD = (
    "class",
    "dtype",
    "values",
    "requires_grad",
    "use_count",
    "attributes",
    "hooks",
)
"""What a written scenario expects of the place that a violation names."""


def write_text(path: Path, text: str) -> None:
    """Write a file so that it holds the old text or the new one, never a part."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that it holds the old content or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files below *folder*, in order of name."""
    for name in sorted(texts):
        write_text(folder / name, texts[name])


# -- Scenarios -----------------------------------------------------------------------


def scenario_text(found: Counterexample, spec: Spec, specs: Sequence[str]) -> str:
    """Write the scenario of a counterexample, which comes out so under *specs*."""
    table: dict[str, object] = {"claim": claim_of(found.violation)}
    table |= span(specs)
    return toml.document(table | body(found, spec))


def claim_of(violation: Violation) -> str:
    """Say in one sentence what a violation shows."""
    promised = f"{violation.invariant}, {violation.path}: {violation.was}"
    return f"{promised}; it is not so: {violation.now}"


def span(specs: Sequence[str]) -> dict[str, object]:
    """Write which specs something is about: a span of releases where it is one."""
    ids = release_ids()
    first = ids.index(specs[0]) if specs[0] in ids else len(ids)
    if tuple(specs) != ids[first : first + len(specs)]:
        return {"specs": list(specs)}
    table: dict[str, object] = {"since": specs[0].removeprefix("torch-")}
    after = first + len(specs)
    if after < len(ids):
        table["until"] = ids[after].removeprefix("torch-")
    return table


def body(found: Counterexample, spec: Spec) -> dict[str, object]:
    """Write what is given, done and there afterwards."""
    trace = run(found.heap, found.program, spec)
    when = [
        table_of(action) | _came_to(outcome)
        for action, outcome in zip(found.program, trace.outcomes, strict=True)
    ]
    return {
        "given": given_of(found.heap),
        "when": when,
        "then": _then(trace.heaps[-1], found.violation.place),
    }


def _came_to(outcome: Outcome) -> dict[str, object]:
    assert not isinstance(outcome, OutOfScope)
    if isinstance(outcome, Undefined):
        return {"undefined": True}
    if not isinstance(outcome, Refused):
        return {}
    refusal = outcome.refusal
    table: dict[str, object] = {"rule": refusal.rule}
    if refusal.operand:
        table["operand"] = refusal.operand
    if refusal.within:
        table["within"] = [one.rule for one in refusal.within]
    return {"refused": table}


def _then(heap: Heap, place: str) -> dict[str, object]:
    if not place:
        return {}
    if places.resolve(heap, place) is None:
        return {place: ABSENT}
    return {f"{place}.{name}": seen(heap, (), f"{place}.{name}") for name in TOLD}
