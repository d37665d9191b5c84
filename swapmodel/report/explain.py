"""
What happened, step by step, and what of it was not promised?  Data, no text.
"""

from __future__ import annotations

from attrs import evolve, frozen

from swapmodel.actions import Action, Program
from swapmodel.outcomes import Outcome, OutOfScope, Refusal, Refused, Undefined
from swapmodel.report.changes import Change, changes
from swapmodel.report.owners import owners_of_refused, place_of
from swapmodel.report.spelling import chain, spelled, text
from swapmodel.report.start import start_lines
from swapmodel.run import Counterexample
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.events import Converted, Fired
from swapmodel.state.heap import Heap

END = "end"
"""Where what nobody reaches any more is let go, after the last phase."""


@frozen
class Phase:
    """One phase of an action with what it changed."""

    id: str
    changes: tuple[Change, ...]


@frozen
class Refusing:
    """One link of a chain of refusals."""

    rule: str
    operand: str
    text: str
    """What torch says, empty where the spec does not tell."""


@frozen(kw_only=True)
class Happened:
    """One action with what it came to."""

    number: int
    code: str
    probe: bool = False
    """Whether it only shows what would come of the actions before it."""

    outcome: str
    """`done`, `refused`, `undefined` or `out of scope`."""

    why: str = ""
    """Why it is undefined or out of scope."""

    refusals: tuple[Refusing, ...] = ()
    """Outermost first, as torch chains exceptions."""

    refused_for: str = ""
    """The tensor that a use count was refused of."""

    owners: tuple[str, ...] = ()
    """Who owned it."""

    paths: tuple[tuple[str, str], ...] = ()
    """The tensors that were converted, by place, and the path that each took."""

    fired: tuple[str, ...] = ()
    """The hooks that ran, in order."""

    phases: tuple[Phase, ...] = ()
    changes: tuple[Change, ...] = ()
    """From before the action to after it."""


@frozen(kw_only=True)
class Explanation:
    """A counterexample: Let, Then, But, Replay."""

    spec: str
    scope: str
    start: str
    invariant: str
    place: str
    kind: str
    path: str
    phase: str
    let: tuple[str, ...]
    then: tuple[Happened, ...]
    was: str
    """What the invariant promises."""

    now: str
    """What is there instead."""

    replay: str
    """The command that shows it again."""


def explain(counterexample: Counterexample, spec: Spec, replay: str) -> Explanation:
    """Run a counterexample again and keep what is to be told of it."""
    one, violation = counterexample, counterexample.violation
    return Explanation(
        spec=one.spec,
        scope=one.scope,
        start=one.start,
        invariant=violation.invariant,
        place=violation.place,
        kind=violation.kind,
        path=one.cause.path,
        phase=one.cause.phase,
        let=start_lines(one.heap),
        then=explain_program(one.heap, one.program, spec, violation.probe),
        was=violation.was,
        now=violation.now,
        replay=replay,
    )


def explain_program(
    start: Heap, program: Program, spec: Spec, probe: Program = ()
) -> tuple[Happened, ...]:
    """Run a program, and then a probe, and tell each action."""
    heap, told = start, list[Happened]()
    for number, action in enumerate((*program, *probe), 1):
        one, outcome = explain_action(heap, action, spec, number)
        told.append(evolve(one, probe=number > len(program)))
        if isinstance(outcome, Undefined | OutOfScope):
            break
        heap = outcome.heap
    return tuple(told)


def explain_action(
    before: Heap, action: Action, spec: Spec, number: int = 1
) -> tuple[Happened, Outcome]:
    """Run one action and tell it, phase by phase."""
    seen: list[tuple[str, Heap]] = []
    outcome = step(before, action, spec, lambda name, heap: seen.append((name, heap)))
    if isinstance(outcome, OutOfScope):
        told = Happened(
            number=number,
            code=spelled(action),
            outcome="out of scope",
            why=outcome.why,
            paths=_paths(before, outcome),
        )
        return told, outcome
    told = Happened(
        number=number,
        code=spelled(action),
        outcome=type(outcome).__name__.lower(),
        why=outcome.why if isinstance(outcome, Undefined) else "",
        paths=_paths(before, outcome),
        fired=tuple(one.hook for one in outcome.events if isinstance(one, Fired)),
        phases=_phases(before, seen, outcome.heap),
        changes=changes(before, outcome.heap),
    )
    if isinstance(outcome, Refused):
        refused_in = next((heap for _, heap in _refusing(seen)), before)
        told = _refused(told, refused_in, action, outcome.refusal, spec)
    return told, outcome


def _paths(before: Heap, outcome: Outcome) -> tuple[tuple[str, str], ...]:
    """Which path was chosen for what, whether or not it was walked to its end."""
    converted = (one for one in outcome.events if isinstance(one, Converted))
    return tuple((_place(before, one), one.path) for one in converted)


def _place(heap: Heap, one: Converted) -> str:
    if one.tensor >= len(heap.tensors) or heap.tensors[one.tensor] is None:
        return f"object {one.tensor}"
    return place_of(heap, heap.tensor(one.tensor).impl)


def _phases(
    before: Heap, seen: list[tuple[str, Heap]], then: Heap
) -> tuple[Phase, ...]:
    if not seen:
        return ()
    told: list[Phase] = []
    for name, heap in (*seen, (END, then)):
        told.append(Phase(name, changes(before, heap)))
        before = heap
    return tuple(told) if told[-1].changes else tuple(told[:-1])


def _refusing(seen: list[tuple[str, Heap]]) -> list[tuple[str, Heap]]:
    """The phases from the one that refused on: those of `swap_tensors` come first."""
    innermost = [one for one in seen if one[0].startswith("swap_tensors/")]
    return innermost[-1:] or seen[-1:]


def _refused(
    told: Happened, heap: Heap, action: Action, refusal: Refusal, spec: Spec
) -> Happened:
    links = tuple(
        Refusing(one.rule, one.operand, text(spec, one)) for one in chain(refusal)
    )
    owned = owners_of_refused(heap, action, refusal) or ("", ())
    return evolve(told, refusals=links, refused_for=owned[0], owners=owned[1])
