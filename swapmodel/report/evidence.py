"""
Which expressions show a violation in torch, and what does the model say of each?

At the place that a violation names, everything that can be compared; around it, what
the breaking action changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from swapmodel.actions import Program, RegisterHook, operands
from swapmodel.outcomes import OutOfScope
from swapmodel.report import questions
from swapmodel.report.names import BEFORE, variable
from swapmodel.report.questions import QUESTIONS
from swapmodel.report.spelling import expression
from swapmodel.run import Counterexample, Trace
from swapmodel.semantics import places
from swapmodel.state.events import Fired
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId

ESSENTIAL = ("type({t}).__name__", "{t}.dtype", questions.VALUES.code)
"""What is asked of a tensor that has come to stand at a place beside the violation."""


@frozen
class Evidence:
    """One expression with the value that the model predicts, as Python source."""

    code: str
    predicted: str
    needs: str = ""
    """The method of `torch.Tensor` without which it is skipped."""


def whole_program(one: Counterexample) -> Program:
    """The program with the probe that shows the violation."""
    return (*one.program, *one.violation.probe)


def evidence(one: Counterexample, trace: Trace) -> tuple[Evidence, ...]:
    """Everything that a script compares when the whole program has run."""
    return tuple(_evidence(one, trace))


def compared_before(one: Counterexample, before: Heap) -> tuple[str, ...]:
    """The places whose identity a script keeps before the breaking action."""
    standing = dict(places.places(before))
    return tuple(place for place in _around(one, before) if place in standing)


def _evidence(one: Counterexample, trace: Trace) -> Iterator[Evidence]:
    broken = len(one.program)
    before, then = trace.heaps[broken - 1], trace.heaps[-1]
    old, new = dict(places.places(before)), dict(places.places(then))
    just_after = dict(places.places(trace.heaps[broken]))
    for place in _around(one, before, then):
        main = place == one.violation.place
        if place in new:
            if new[place] == just_after.get(place):
                yield from _identity(place, old, new)
            yield from _answers(place, old.get(place), new[place], before, then, main)
        elif place in old:
            yield from _gone(place)
    fired = _fired(trace)
    if fired or any(isinstance(action, RegisterHook) for action in trace.program):
        yield Evidence("fired", repr(fired))


def _around(one: Counterexample, *heaps: Heap) -> Iterator[str]:
    """The place itself, what holds it, what it holds, and the action's operands."""
    seen: dict[str, None] = {}
    standing = [place for heap in heaps for place, _ in places.places(heap)]
    action = one.program[-1]
    named = [getattr(action, name) for name, _ in operands(type(action))]
    for place in (one.violation.place, *named):
        holders = [place]
        while "." in holders[-1]:
            holders.append(holders[-1].rpartition(".")[0])
        inner = [other for other in standing if other.rpartition(".")[0] == place]
        seen.update(dict.fromkeys(other for other in holders if other in standing))
        seen.update(dict.fromkeys(inner))
    yield from seen


def _identity(
    place: str, old: dict[str, TensorId], new: dict[str, TensorId]
) -> Iterator[Evidence]:
    # An address can come again when a probe makes a tensor: what it made is not asked.
    if place in old:
        code = f'id({expression(place)}) == {BEFORE}["{place}"]'
        yield Evidence(code, str(old[place] == new[place]))


def _answers(
    place: str,
    was: TensorId | None,
    now: TensorId,
    before: Heap,
    then: Heap,
    main: bool,
) -> Iterator[Evidence]:
    known = {} if was is None else questions.answers(before, was)
    answers = questions.answers(then, now)
    for one in QUESTIONS:
        answer = answers.get(one.code)
        if not one.comparable or answer is None:
            continue
        moved_here = was is None and one.code not in ESSENTIAL
        if main or not (moved_here or answer == known.get(one.code)):
            code = questions.code(one, expression(place))
            yield Evidence(code, answer, one.needs)


def _gone(place: str) -> Iterator[Evidence]:
    """How it shows that a place leads nowhere any more."""
    holder, _, name = place.rpartition(".")
    if name == "grad":
        yield Evidence(f"{expression(holder)}.grad is None", "True")
    elif holder:
        yield Evidence(f'hasattr({expression(holder)}, "{name}")', "False")
    else:
        yield Evidence(f'"{variable(name)}" in globals()', "False")


def _fired(trace: Trace) -> list[str]:
    return [
        event.hook
        for outcome in trace.outcomes
        if not isinstance(outcome, OutOfScope)
        for event in outcome.events
        if isinstance(event, Fired)
    ]
