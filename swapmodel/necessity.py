"""
Which phases of a spec matter?  Leave each one out, turn each pair of neighbours round.

A change that no verdict shows is a phase that nothing here can tell, or a claim that
is not made; `specs/unobservable.toml` lists those that are known, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import evolve, frozen

from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.run import Counterexample
from swapmodel.search.explore import Exploration, Search, explore
from swapmodel.search.scope import Scope
from swapmodel.search.shared import Asked, asked
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles import checks
from swapmodel.specfiles.files import read_toml, specs_folder
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
    cause, steps = one.cause, len(one.program)
    where = f"{cause.path} {cause.kind} since {cause.phase}"
    return f"{cause.invariant} {where} in {steps} {'step' if steps == 1 else 'steps'}"


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
        except (AssertionError, AttributeError) as error:
            return f"cannot be run in {one.scope.id}: {type(error).__name__}"
        if found:
            return f"{found} in {one.scope.id}"
    return ""


def _differing(spec: Spec, one: Base) -> str:
    """The first verdict of a scope that is not that of the spec as it is."""
    search = Search(one.scope, spec, INVARIANTS)
    known = {*one.verdicts}

    def look(depth: int, heaps: int, transitions: int) -> None:
        if {*verdicts(search.exploration())} - known:
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
