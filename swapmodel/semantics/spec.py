"""
Which phases make up an operation, and in what order?

A spec is data: names of phases, rows of path choices, texts.  Here the names meet
the functions that are registered for them; nothing here knows a release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from attrs import define, field, frozen

from swapmodel.outcomes import Refusal, Stop
from swapmodel.state.draft import Draft
from swapmodel.state.events import Path
from swapmodel.state.ids import ModuleId, TensorId


@define
class Calls:
    """How often a running conversion has called its function."""

    count: int = 0


class Frame:
    """
    The local variables of one running operation.

    What they hold stays alive until the action ends, finished or refused.
    """

    __slots__ = (
        "applied",
        "argument",
        "buffer",
        "calls",
        "data",
        "fn",
        "grad_mode",
        "gradient",
        "gradient_applied",
        "gradient_path",
        "key",
        "module",
        "out",
        "param",
        "path",
        "result",
        "spec",
        "t1",
        "t2",
        "target",
    )

    spec: Spec
    t1: TensorId
    t2: TensorId
    target: TensorId
    data: TensorId
    module: ModuleId
    key: str
    fn: object
    calls: Calls
    argument: TensorId
    grad_mode: bool
    result: TensorId | None
    param: TensorId
    applied: TensorId
    gradient: TensorId | None
    gradient_applied: TensorId
    gradient_path: Path
    buffer: TensorId
    out: TensorId
    path: Path

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def tensors(self) -> list[TensorId]:
        """The tensors that the local variables hold."""
        found = (getattr(self, name, None) for name in _TENSOR_LOCALS)
        return [t for t in found if t is not None]


_TENSOR_LOCALS = (
    *("t1", "t2", "target", "data", "argument", "param", "buffer", "result"),
    *("applied", "gradient", "gradient_applied", "out"),
)

F = TypeVar("F")

PhaseFunction: TypeAlias = Callable[[Draft, Frame], Stop | None]
HandlerFunction: TypeAlias = Callable[[Draft, Frame, Refusal], Refusal | None]
"""What it raises itself ends the `except` clause; `None` goes on to the next one."""

PredicateFunction: TypeAlias = Callable[[Draft, Frame], bool]


@frozen
class Phase:
    """One named check or move inside an operation."""

    name: str
    run: PhaseFunction
    reads: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()


@frozen
class Operation:
    """What an operation is given when it starts: local variables by name."""

    name: str
    gives: tuple[str, ...]
    """Local variables that are set when the operation starts."""


@frozen
class Handler:
    """One `except` clause of an operation."""

    run: HandlerFunction
    around: tuple[str, ...] = ()
    """The phases that its `try` surrounds; none stands for all of them."""


OPERATIONS: dict[str, Operation] = {}
PHASES: dict[tuple[str, str], Phase] = {}
HANDLERS: dict[tuple[str, str], Handler] = {}
PREDICATES: dict[tuple[str, str], PredicateFunction] = {}
"""What is registered, by (operation or choice, name)."""


def operation(name: str, *gives: str) -> None:
    """Declare an operation whose phases a spec lists."""
    OPERATIONS[name] = Operation(name, gives)


def phase(
    name: str,
    *operations: str,
    reads: tuple[str, ...] = (),
    sets: tuple[str, ...] = (),
) -> Callable[[PhaseFunction], PhaseFunction]:
    """Register a phase of *operations* with what it reads and sets of the frame."""

    def register(run: PhaseFunction) -> PhaseFunction:
        for one in operations:
            assert one in OPERATIONS, one
            PHASES[one, name] = Phase(name, run, reads, sets)
        return run

    return register


def when_refused(
    name: str, *operations: str, around: tuple[str, ...] = ()
) -> Callable[[HandlerFunction], HandlerFunction]:
    """Register what an operation can do when one of the phases *around* is refused."""

    def register(run: HandlerFunction) -> HandlerFunction:
        for one in operations:
            HANDLERS[one, name] = Handler(run, around)
        return run

    return register


def predicate(
    name: str, *choices: str
) -> Callable[[PredicateFunction], PredicateFunction]:
    """Register a predicate that rows of *choices* can name."""

    def register(run: PredicateFunction) -> PredicateFunction:
        for one in choices:
            PREDICATES[one, name] = run
        return run

    return register


@frozen
class Row:
    """One row of a choice: the path taken when every predicate holds."""

    path: Path
    predicates: tuple[str, ...] = ()


@frozen(kw_only=True)
class Spec:
    """One group of torch releases, or one proposed change, as data."""

    id: str
    operations: tuple[tuple[str, tuple[str, ...]], ...]
    refused: tuple[tuple[str, tuple[str, ...]], ...] = ()
    choices: tuple[tuple[str, tuple[Row, ...]], ...] = ()
    messages: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    base: str | None = None
    """The id of the spec that this one extends."""

    statement: str = ""
    """One sentence for people: what this release or proposal is."""

    measured: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()

    _phases: dict[str, tuple[Phase, ...]] = field(
        init=False, factory=dict, eq=False, repr=False
    )
    _handlers: dict[str, tuple[Handler, ...]] = field(
        init=False, factory=dict, eq=False, repr=False
    )
    _rows: dict[str, tuple[tuple[Path, tuple[PredicateFunction, ...]], ...]] = field(
        init=False, factory=dict, eq=False, repr=False
    )

    def has(self, name: str) -> bool:
        """Whether this spec has the operation at all."""
        return any(one == name for one, _ in self.operations)

    def phases(self, name: str) -> tuple[Phase, ...]:
        """The phases of an operation, in order."""
        known = self._phases.get(name)
        if known is not None:
            return known
        return self._compiled(self._phases, self.operations, PHASES, name)

    def handlers(self, name: str) -> tuple[Handler, ...]:
        """What an operation does when it is refused, in order."""
        return self._compiled(self._handlers, self.refused, HANDLERS, name)

    def _compiled(
        self,
        table: dict[str, tuple[F, ...]],
        rows: tuple[tuple[str, tuple[str, ...]], ...],
        registry: dict[tuple[str, str], F],
        name: str,
    ) -> tuple[F, ...]:
        if name not in table:
            names = dict(rows).get(name, ())
            table[name] = tuple(registry[name, one] for one in names)
        return table[name]

    def path(self, choice: str, draft: Draft, frame: Frame) -> Path:
        """The path of the first row of *choice* whose predicates all hold."""
        if choice not in self._rows:
            self._rows[choice] = tuple(
                (row.path, tuple(PREDICATES[choice, one] for one in row.predicates))
                for row in dict(self.choices)[choice]
            )
        for path, predicates in self._rows[choice]:
            for holds in predicates:
                if not holds(draft, frame):
                    break
            else:
                return path
        raise AssertionError(f"{self.id}: no row of {choice} applies")


def call(draft: Draft, frame: Frame, name: str) -> Stop | None:
    """Run an operation in a frame of its own, whose locals live as long as it runs."""
    draft.frames.append(frame)
    stop = run(draft, frame, name)
    draft.frames.remove(frame)
    return stop


def run(draft: Draft, frame: Frame, name: str) -> Stop | None:
    """
    Run the phases of one operation, until the end or until one of them stops it.

    Earlier phases are not undone, because torch does not undo them; what the spec
    lists under `[refused]` runs as torch's `except` clauses do.
    """
    for one in frame.spec.phases(name):
        stop = one.run(draft, frame)
        if draft.watch is not None:
            draft.watch(f"{name}/{one.name}", draft.shown())
        if stop is not None:
            return _handled(draft, frame, name, one.name, stop)
    return None


def _handled(draft: Draft, frame: Frame, name: str, phase: str, stop: Stop) -> Stop:
    if not isinstance(stop, Refusal):
        return stop
    for handler in frame.spec.handlers(name):
        if handler.around and phase not in handler.around:
            continue
        raised = handler.run(draft, frame, stop)
        if draft.watch is not None:
            draft.watch(f"{name}/refused", draft.shown())
        if raised is not None:
            return raised
    return stop
