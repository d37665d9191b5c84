"""
What did a run find, invariant by invariant and path by path, against the claims?
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from attrs import asdict, frozen

from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.invariants.violation import Cause
from swapmodel.report.json import FORMAT, dumps
from swapmodel.report.spelling import spelled
from swapmodel.run import Counterexample
from swapmodel.search.explore import Exploration
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.claims import KnownCause
from swapmodel.specfiles.read import paths_of
from swapmodel.state.events import Path

Verdict: TypeAlias = Literal["holds", "violated", "absent", "undecided"]
Claim: TypeAlias = Literal["holds", "violated"]


@frozen(kw_only=True)
class Row:
    """An invariant on a path, or one cause of its being broken there."""

    spec: str
    path: Path
    invariant: str

    cause: str = ""
    """The phase and the kind of place, for what is violated or claimed to be."""

    claim: Claim = "holds"
    verdict: Verdict
    scope: str = ""
    """The scopes that decide it, or the one that shows the shortest program."""

    bound: int = 0
    """The longest program that was tried."""

    heaps: int = 0
    program: tuple[str, ...] = ()
    report: str = ""
    script: str = ""

    @property
    def as_claimed(self) -> bool:
        """Whether the verdict is what is claimed, or says nothing against it."""
        return self.verdict in (self.claim, "absent")


def stem(cause: Cause, spec: str) -> str:
    """The name of everything that is written about one cause, without a suffix."""
    phase = cause.phase.replace("/", ".")
    return f"{spec}/{cause.invariant}-{cause.path}-{phase}-{cause.kind}"


def told(cause: Cause) -> str:
    """What tells a cause from others of its invariant on its path."""
    return f"{cause.phase} {cause.kind}"


def reached(explorations: Iterable[Exploration]) -> tuple[Path, ...]:
    """The paths that some search took: the columns of the table."""
    taken = {path for one in explorations for path in one.paths}
    return tuple(path for path in get_args(Path) if path in taken)


def rows(
    spec: Spec,
    explorations: Sequence[Exploration],
    known: Iterable[KnownCause],
    paths: Sequence[Path] | None = None,
) -> tuple[Row, ...]:
    """
    Judge every invariant on every path by the searches of one spec.

    *paths* are the columns; without them, those that these searches took.  What is
    claimed of a release is claimed of a proposal that extends it and does not mend
    it.  A claim whose scope was not searched is not judged.
    """
    columns = reached(explorations) if paths is None else paths
    listed = {
        one.cause: one.scope
        for one in known
        if {spec.id, spec.base} & {*one.specs} and spec.id not in one.mended
    }
    found: list[Row] = []
    for invariant in (one.id for one in INVARIANTS):
        for path in columns:
            here = {
                one: scope
                for one, scope in listed.items()
                if (one.invariant, one.path) == (invariant, path)
            }
            found += _judged(spec, explorations, here, invariant, path)
    return tuple(found)


def _judged(
    spec: Spec,
    explorations: Sequence[Exploration],
    listed: Mapping[Cause, str],
    invariant: str,
    path: Path,
) -> Iterator[Row]:
    scopes = {one.scope for one in explorations}
    searched = [one for one in explorations if path in one.paths]
    shown = _shortest(searched, invariant, path)
    for cause, (one, counterexample) in shown.items():
        yield _violated(spec, one, counterexample, cause in listed)
    silent: Verdict = "holds"
    if path not in paths_of(spec):
        silent = "absent"
    elif not searched or not all(one.complete for one in explorations):
        silent = "undecided"
    for cause in sorted(listed.keys() - shown.keys(), key=told):
        if listed[cause] in scopes:
            yield _silent(spec, searched, invariant, path, silent, told(cause))
    if not shown and not listed:
        yield _silent(spec, searched, invariant, path, silent)


def _shortest(
    searched: Sequence[Exploration], invariant: str, path: Path
) -> dict[Cause, tuple[Exploration, Counterexample]]:
    """The shortest program for each cause, from the first scope that has it."""
    found: dict[Cause, tuple[Exploration, Counterexample]] = {}
    for one in searched:
        for counterexample in one.counterexamples:
            cause = counterexample.cause
            if (cause.invariant, cause.path) != (invariant, path):
                continue
            known = found.get(cause)
            if known is None or len(counterexample.program) < len(known[1].program):
                found[cause] = (one, counterexample)
    return dict(sorted(found.items(), key=lambda item: told(item[0])))


def _violated(
    spec: Spec, one: Exploration, counterexample: Counterexample, listed: bool
) -> Row:
    cause, probe = counterexample.cause, counterexample.violation.probe
    return Row(
        spec=spec.id,
        path=cause.path,
        invariant=cause.invariant,
        cause=told(cause),
        claim="violated" if listed else "holds",
        verdict="violated",
        scope=one.scope,
        bound=one.depth,
        heaps=one.heaps,
        program=tuple(map(spelled, (*counterexample.program, *probe))),
        report=f"counterexamples/{stem(cause, spec.id)}.md",
        script=f"scripts/{stem(cause, spec.id)}.py",
    )


def _silent(
    spec: Spec,
    searched: Sequence[Exploration],
    invariant: str,
    path: Path,
    verdict: Verdict,
    cause: str = "",
) -> Row:
    return Row(
        spec=spec.id,
        path=path,
        invariant=invariant,
        cause=cause,
        claim="violated" if cause else "holds",
        verdict=verdict,
        scope=", ".join(one.scope for one in searched),
        bound=max((one.depth for one in searched), default=0),
        heaps=sum(one.heaps for one in searched),
    )


# -- Rendering ---------------------------------------------------------------------

ORDER: tuple[Verdict, ...] = ("violated", "undecided", "holds", "absent")
"""What a cell shows of several rows: the first of these."""


def render_table(judged: Sequence[Row]) -> str:
    """The table invariant x path of one spec; `!` marks what is not as claimed."""
    paths = [one for one in get_args(Path) if any(row.path == one for row in judged)]
    names = list(dict.fromkeys(row.invariant for row in judged))
    lines = [[judged[0].spec if judged else "", *paths]]
    for name in names:
        cells = [
            _cell([row for row in judged if (row.invariant, row.path) == (name, path)])
            for path in paths
        ]
        lines.append([name, *cells])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        "  ".join(map(str.ljust, line, widths)).rstrip() for line in lines if any(line)
    )
    return "".join(f"{line}\n" for line in padded)


def _cell(judged: Sequence[Row]) -> str:
    verdict = next((one for one in ORDER if any(r.verdict == one for r in judged)), "")
    count = sum(row.verdict == "violated" for row in judged)
    shown = f"violated {count}" if count else verdict
    return shown if all(row.as_claimed for row in judged) else f"{shown} !"


def render_verdicts(judged: Iterable[Row]) -> str:
    """The rows as JSON, in the order in which they were judged."""
    return dumps({"format": FORMAT, "rows": [asdict(row) for row in judged]})
