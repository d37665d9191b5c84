"""
What is given, done and expected in a scenario, and does it come out so?
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from swapmodel.actions import Action, Program
from swapmodel.outcomes import Outcome, OutOfScope, Refused, Undefined
from swapmodel.run import Trace, run
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.actions import action_from_table
from swapmodel.specfiles.expect import agrees, expectations, seen
from swapmodel.specfiles.files import read_toml
from swapmodel.specfiles.given import heap_from_given
from swapmodel.specfiles.read import all_specs
from swapmodel.specfiles.rules import rules
from swapmodel.specfiles.schema import Table
from swapmodel.specfiles.toml import value
from swapmodel.state.heap import Heap

KEYS = ("claim", "since", "until", "specs", "given", "when", "then")
BESIDE = ("refused", "undefined")


@frozen
class Refusing:
    """The refusal that an action is expected to meet."""

    rule: str

    operand: str | None = None
    """What the text names; `None` leaves it open."""

    within: tuple[str, ...] | None = None
    """The rules of what was raised from it, innermost first; `None` leaves it open."""


@frozen(kw_only=True)
class When:
    """One action with what it is expected to come to: done, unless it says else."""

    action: Action
    refused: Refusing | None = None
    undefined: bool = False


@frozen(kw_only=True)
class Scenario:
    """A start heap, a program and what holds afterwards."""

    file: str
    claim: str
    """What this scenario shows, in a sentence."""

    specs: tuple[str, ...]
    """Under which specs it comes out as it says."""

    start: Heap
    when: tuple[When, ...]
    then: tuple[tuple[str, object], ...] = ()

    @property
    def program(self) -> Program:
        """The actions alone."""
        return tuple(one.action for one in self.when)


def load_scenario(path: Path) -> Scenario:
    """Read a scenario from a file anywhere."""
    root = read_toml(path)
    root.only(KEYS)
    given = root.table("given")
    if not root.tables("when"):
        raise root.bad("when", "no action", "write at least one [[when]]")
    return Scenario(
        file=root.where.file,
        claim=root.text("claim"),
        specs=all_specs(root),
        start=heap_from_given(given.rows, given.where),
        when=tuple(_when(table) for table in root.tables("when")),
        then=expectations(root.table("then", required=False)),
    )


def _when(table: Table) -> When:
    action = action_from_table(table.rows, table.where, BESIDE)
    undefined = table.flag("undefined", False)
    if "refused" not in table:
        return When(action=action, undefined=undefined)
    if undefined:
        raise table.bad("undefined", "refused as well", "write one of the two")
    inner = table.table("refused")
    inner.only(("rule", "operand", "within"))
    operand = inner.text("operand", "") if "operand" in inner else None
    within = inner.each_of("within", rules(), "rule") if "within" in inner else None
    rule = inner.one_of("rule", rules(), "rule")
    return When(action=action, refused=Refusing(rule, operand, within))


# -- Running -----------------------------------------------------------------------


def mismatches(scenario: Scenario, spec: Spec) -> Iterator[str]:
    """Yield what does not come out as the scenario says, a line each."""
    trace = run(scenario.start, scenario.program, spec)
    for number, when in enumerate(scenario.when, 1):
        if number > len(trace.outcomes):
            yield f"action {number} does not run"
            return
        actual = _came_to(trace.outcomes[number - 1], when)
        expected = _expected(when)
        if actual != expected:
            yield f"action {number} is expected to be {expected}, it is {actual}"
    yield from _wrong_ends(scenario, trace)


def _wrong_ends(scenario: Scenario, trace: Trace) -> Iterator[str]:
    heap = trace.heaps[-1]
    events = tuple(
        event
        for one in trace.outcomes
        if not isinstance(one, OutOfScope)
        for event in one.events
    )
    for key, expected in scenario.then:
        if not agrees(heap, events, key, expected):
            there = value(seen(heap, events, key))
            yield f"{key} is expected to be {value(expected)}, it is {there}"


def _expected(when: When) -> str:
    if when.undefined:
        return "undefined"
    if when.refused is None:
        return "done"
    return _told(when.refused)


def _came_to(outcome: Outcome, when: When) -> str:
    """Tell an outcome as far as the scenario asks."""
    if isinstance(outcome, Undefined):
        return "undefined"
    if isinstance(outcome, OutOfScope):
        return f"out of scope ({outcome.why})"
    if not isinstance(outcome, Refused):
        return "done"
    refusal, asked = outcome.refusal, when.refused or Refusing("")
    within = tuple(one.rule for one in refusal.within)
    return _told(
        Refusing(
            refusal.rule,
            None if asked.operand is None else refusal.operand,
            None if asked.within is None else within,
        )
    )


def _told(refusing: Refusing) -> str:
    operand = "" if refusing.operand is None else f" of {refusing.operand}"
    within = refusing.within or ()
    around = "".join(f" within {one}" for one in within)
    return f"refused by {refusing.rule}{operand}{around}"
