"""
Which long programs break an invariant?  A Hypothesis machine draws and shrinks them.

One rule for each kind of action, so that a failure prints as a program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import attrs
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from swapmodel.actions import ACTIONS, Action, Drop, Program, operands
from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.invariants.violation import Cause, Invariant, Step, Violation
from swapmodel.outcomes import Done, Refused
from swapmodel.run import find_cause
from swapmodel.search.enabled import ASSIGNED, LABELLED
from swapmodel.semantics.places import placements
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.heap import Heap, living

Starts: TypeAlias = Sequence[tuple[str, Heap]]

NEW_NAMES = ("a", "b", "c", "d", "e")
"""What variables are called that a program assigns; each stands for one thing."""

TEXTS: dict[str, tuple[str, ...]] = {
    "dtype": ("float32", "float64", "float16"),
    "cls": ("TwoTensor",),
    "device": ("cpu", "meta"),
    "inner": ("a", "b"),
    "key": ("note", "tag"),
    "place": ("m.weight", "m.weight.grad"),
}
"""What a field of an action that is a free text can say, by its name."""

NUMBERS = st.integers(1, 3)


class Broken(AssertionError):
    """A program that a machine ran broke an invariant in a way that is not known."""

    def __init__(
        self, start: str, program: Program, violation: Violation, cause: Cause
    ) -> None:
        super().__init__(f"{cause} is not known: {violation}")
        self.start = start
        self.program = program
        self.violation = violation
        self.cause = cause


def machine(
    spec: Spec,
    starts: Starts,
    *,
    invariants: tuple[Invariant, ...] = INVARIANTS,
    known: Callable[[Cause], bool] = lambda cause: False,
    actions: tuple[type[Action], ...] = ACTIONS,
) -> type[RuleBasedStateMachine]:
    """
    Make a state machine that runs programs under *spec* and checks every step.

    A cause that is *known* is no failure; the program goes on behind it, as behind
    a refusal.  What is undefined or not modelled leaves the machine where it was.
    """

    def tried(self: Any, action: Action) -> None:
        outcome = step(self.heap, action, spec)
        if not isinstance(outcome, Done | Refused):
            return
        one = Step(self.heap, action, outcome, spec)
        self.heap = outcome.heap
        self.program = (*self.program, action)
        for invariant in invariants:
            for violation in invariant.check(one):
                cause = find_cause(one, violation, invariant)
                if not known(cause):
                    raise Broken(self.began, self.program, violation, cause)

    name = re.sub(r"\W", "_", f"machine_of_{spec.id}")
    return _machine(name, starts, actions, tried)


def empty_machine(
    starts: Starts, *, actions: tuple[type[Action], ...] = ACTIONS
) -> type[RuleBasedStateMachine]:
    """Make a machine with the same rules that does nothing: what drawing costs."""
    return _machine("empty_machine", starts, actions, lambda self, action: None)


def _machine(
    name: str,
    starts: Starts,
    actions: tuple[type[Action], ...],
    tried: Callable[[Any, Action], None],
) -> type[RuleBasedStateMachine]:
    heaps = dict(starts)

    def start(self: Any, start: str) -> None:
        self.began, self.program, self.heap = start, (), heaps[start]

    first: Any = initialize(start=st.sampled_from([one for one, _ in starts]))
    rules = {snake_case(kind): _rule(kind, tried) for kind in actions}
    members = {
        "heap": starts[0][1],
        "began": starts[0][0],
        "program": (),
        "start": first(start),
        **rules,
    }
    return type(name, (RuleBasedStateMachine,), members)


def snake_case(kind: type[Action]) -> str:
    """The name of an action in files, reports and rules: `swap_tensors`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def _rule(kind: type[Action], tried: Callable[[Any, Action], None]) -> Any:
    """The rule that draws an action of this kind and tries it."""
    needed = tuple({needs for _, needs in operands(kind)})

    def body(self: Any, **fields: Any) -> None:
        tried(self, kind(**fields))

    def possible(self: Any) -> bool:
        if kind is Drop:
            return bool(droppable(self.heap))
        if ASSIGNED in drawn and not new_names(self.heap):
            return False
        return all(standing(self.heap, one) for one in needed)

    drawn = _fields(kind)
    body.__name__ = snake_case(kind)
    ruled: Any = rule(**drawn)
    return precondition(possible)(ruled(body))


# -- What is drawn -------------------------------------------------------------------


def standing(heap: Heap, needed: str) -> tuple[str, ...]:
    """The places at which something of this kind stands."""
    if needed == "tensor":
        return tuple(place for place, _, _ in placements(heap))
    return tuple(name for name, kind, _ in heap.names if kind == needed)


def new_names(heap: Heap) -> tuple[str, ...]:
    """The names that a program can assign next: the first one that is free."""
    bound = {name for name, _, _ in heap.names}
    return tuple(name for name in NEW_NAMES if name not in bound)[:1]


def droppable(heap: Heap) -> tuple[str, ...]:
    """The variables that a program can delete: not the modules."""
    return tuple(name for name, kind, _ in heap.names if kind != "module")


def new_label(heap: Heap) -> str:
    """The label of the next hook."""
    return f"h{sum(len(hooks.entries) for _, hooks in living(heap.hooks))}"


def _fields(kind: type[Action]) -> dict[str, Any]:
    """A strategy for each field of an action, from what it means and its type."""
    hints, needed = get_type_hints(kind), dict(operands(kind))
    return {
        field.name: _strategy(kind, field.name, hints[field.name], needed)
        for field in attrs.fields(kind)
    }


def _strategy(
    kind: type[Action], name: str, hint: Any, needed: dict[str, str]
) -> st.SearchStrategy[Any]:
    if name in needed:
        return _from_heap(lambda heap: standing(heap, needed[name]))
    if name == ASSIGNED:
        return _from_heap(droppable if kind is Drop else new_names)
    if name == LABELLED:
        return _from_heap(lambda heap: (new_label(heap),))
    return _by_type(name, hint)


def _from_heap(choices: Callable[[Heap], tuple[str, ...]]) -> st.SearchStrategy[str]:
    """Draw from what the machine's heap has to offer at that moment."""
    return st.runner().flatmap(lambda one: st.sampled_from(choices(one.heap)))


def _by_type(name: str, hint: Any) -> st.SearchStrategy[Any]:
    if attrs.has(hint):
        hints = get_type_hints(hint)
        fields = {one: _by_type(one, hints[one]) for one in hints}
        return st.builds(hint, **fields)
    if get_origin(hint) in (Union, UnionType):
        return st.one_of([_by_type(name, one) for one in get_args(hint)])
    if get_origin(hint) is Literal:
        return st.sampled_from(get_args(hint))
    if hint is bool:
        return st.booleans()
    if hint is int:
        return NUMBERS
    assert name in TEXTS, f"nobody said what {name} can be"
    return st.sampled_from(TEXTS[name])
