"""
Which phases of a spec matter?  Leave each one out, turn each pair of neighbours round.

First the witnesses of the claims are asked, then which scopes have a step that comes
out otherwise, and only those are searched for another verdict.  A change that no
verdict shows is a phase that nothing here can tell, or a claim that is not made;
`specs/unobservable.toml` lists those that are known, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from attrs import evolve, frozen

from swapmodel.invariants.catalogue import INVARIANTS, invariant
from swapmodel.invariants.violation import Cause, Step
from swapmodel.outcomes import OutOfScope
from swapmodel.run import Counterexample, find_cause, run
from swapmodel.search.explore import Exploration, Search, explore
from swapmodel.search.scope import Scope
from swapmodel.search.shared import Asked, asked
from swapmodel.search.witness import witness
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.specfiles import checks
from swapmodel.specfiles.claims import KnownCause, known_causes
from swapmodel.specfiles.files import read_toml, specs_folder
from swapmodel.specfiles.scenario import Scenario, load_scenario
from swapmodel.specfiles.schema import BadInput, Table, Where

# -- Changed specs -------------------------------------------------------------------


@frozen(kw_only=True)
class Change:
    """A spec with a phase less, or with two neighbours the other way round."""

    operation: str
    phases: tuple[str, ...]
    """The phase that is left out, or the two in their new order."""

    spec: Spec
    unreadable: str = ""
    """What reading such a spec says, if it cannot be read."""

    @property
    def told(self) -> str:
        """The change in words, which name it in the list as well."""
        if len(self.phases) == 1:
            return f"{self.operation} without {self.phases[0]}"
        return f"{self.operation} with {self.phases[0]} before {self.phases[1]}"


def changes(spec: Spec) -> Iterator[Change]:
    """Yield every removal and every exchange of neighbours, operation by operation."""
    for operation, names in (*spec.operations, *spec.refused):
        for at, name in enumerate(names):
            yield _change(spec, operation, (name,), (*names[:at], *names[at + 1 :]))
        for at in range(len(names) - 1):
            one, other = names[at : at + 2]
            turned = (*names[:at], other, one, *names[at + 2 :])
            yield _change(spec, operation, (other, one), turned)


def _change(
    spec: Spec, operation: str, phases: tuple[str, ...], names: tuple[str, ...]
) -> Change:
    refused = {*phases} <= {*dict(spec.refused).get(operation, ())}
    read = checks.handlers if refused else checks.phases
    table = "refused" if refused else "operations"
    rows = Table({operation: list(names)}, Where(spec.id))
    try:
        entries = {**dict(getattr(spec, table)), **dict(read(rows))}
        if not refused:
            checks.whole(entries, spec.choices, rows)
    except BadInput as error:
        why = error.what
        return Change(operation=operation, phases=phases, spec=spec, unreadable=why)
    changed = tuple(entries.items())
    then = (
        evolve(spec, refused=changed) if refused else evolve(spec, operations=changed)
    )
    return Change(operation=operation, phases=phases, spec=then)


TRIPPED = (AssertionError, AttributeError, LookupError)
"""What a phase raises that trips over what an earlier one has left."""

# -- Verdicts ------------------------------------------------------------------------


@frozen(kw_only=True)
class Base:
    """What one scope says of the spec as it is."""

    scope: Scope
    asked: Asked
    verdicts: tuple[str, ...]


def base(scope: Scope, spec: Spec) -> Base:
    """Search a scope under the spec itself."""
    watched = asked(spec)
    exploration = explore(scope, watched)
    return Base(scope=scope, asked=watched, verdicts=verdicts(exploration))


def verdicts(exploration: Exploration) -> tuple[str, ...]:
    """Every cause with the length of its shortest program, and every rule reached."""
    violated = [_verdict(one) for one in exploration.counterexamples]
    return tuple(sorted([*violated, *(f"[{rule}]" for rule in exploration.rules)]))


def _verdict(one: Counterexample) -> str:
    steps = len(one.program)
    return f"{_told(one.cause)} in {steps} {'step' if steps == 1 else 'steps'}"


def _told(cause: Cause) -> str:
    return f"{cause.invariant} {cause.path} {cause.kind} since {cause.phase}"


def unwitnessed(change: Change) -> str:
    """Say which claim has a witness that does not show its cause after a change."""
    if change.unreadable:
        return f"cannot be read: {change.unreadable}"
    for known, scenario in _witnesses(change.spec.id):
        try:
            shown = _shown(scenario, change.spec, known.cause.invariant)
        except TRIPPED as error:
            return f"cannot be run in {known.scenario}: {type(error).__name__}"
        if known.cause not in shown:
            return f"gone: {_told(known.cause)} in {known.scenario}"
    return ""


@cache
def _witnesses(spec: str) -> tuple[tuple[KnownCause, Scenario], ...]:
    folder = specs_folder() / "scenarios"
    return tuple(
        (one, load_scenario(folder / one.scenario))
        for one in known_causes()
        if spec in one.specs
    )


def _shown(scenario: Scenario, spec: Spec, name: str) -> set[Cause]:
    """The causes of one invariant that the last action of a scenario shows."""
    program, known = scenario.program, invariant(name)
    trace = run(scenario.start, program, spec)
    last = trace.outcomes[-1]
    if len(trace.outcomes) != len(program) or isinstance(last, OutOfScope):
        return set()
    one = Step(trace.heaps[len(program) - 1], program[-1], last, spec)
    return {find_cause(one, found, known) for found in known.check(one)}


def telling(scope: Scope, spec: Spec, todo: Sequence[Change]) -> tuple[bool, ...]:
    """
    Say which changes make a step of a scope come out otherwise.

    As long as none does, the scope holds the same heaps, and says the same of them.
    """
    watched, told = asked(spec), [False] * len(todo)

    def look(one: Step) -> bool:
        names = {name for _, name in watched.asked}
        watched.asked.clear()
        for number, change in enumerate(todo):
            if not told[number] and change.operation in names:
                told[number] = _comes_out_otherwise(one, change.spec)
        return all(told)

    witness([scope], watched, look)
    return tuple(told)


def _comes_out_otherwise(one: Step, spec: Spec) -> bool:
    try:
        return step(one.before, one.action, spec) != one.outcome
    except TRIPPED:
        return True


def noticed(change: Change, bases: Iterable[Base]) -> str:
    """
    Say by which verdict a change shows first, or nothing where none shows it.

    A scope that asks for nothing that the change touches is not searched.
    """
    if change.unreadable:
        return f"cannot be read: {change.unreadable}"
    for one in bases:
        if one.asked.answers(change.spec):
            continue
        try:
            found = _differing(change.spec, one)
        except TRIPPED as error:
            return f"cannot be run in {one.scope.id}: {type(error).__name__}"
        if found:
            return f"{found} in {one.scope.id}"
    return ""


def _differing(spec: Spec, one: Base) -> str:
    """The first verdict of a scope that is not that of the spec as it is."""
    search = Search(one.scope, spec, INVARIANTS)
    known, seen = {*one.verdicts}, 0

    def look(depth: int, heaps: int, transitions: int) -> None:
        nonlocal seen
        before, seen = seen, len(search.found) + len(search.rules)
        if seen > before and {*verdicts(search.exploration())} - known:
            search.stopped = "limit"

    search.progress = look
    search.run()
    found = {*verdicts(search.exploration())}
    for new in sorted(found - known):
        return f"new: {new}"
    for gone in sorted(known - found):
        return f"gone: {gone}"
    return ""


def unobservable() -> dict[str, str]:
    """Read which changes of the newest release nothing shows, each with its reason."""
    root = read_toml(specs_folder() / "unobservable.toml")
    root.only(["change"])
    found: dict[str, str] = {}
    for table in root.tables("change", required=False):
        table.only(["change", "reason"])
        found[table.text("change")] = table.text("reason")
    return found
