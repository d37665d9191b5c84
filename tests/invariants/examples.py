"""Programs that break an invariant, and programs on which it holds."""

from attrs import frozen

from swapmodel.actions import (
    Action,
    Cast,
    Convert,
    Program,
    SwapTensors,
)
from swapmodel.invariants.catalogue import invariant
from swapmodel.invariants.violation import Step, Violation
from swapmodel.outcomes import OutOfScope
from swapmodel.run import run
from swapmodel.state.build import Builder
from swapmodel.state.classes import RNN as RNN_CLASS
from swapmodel.state.heap import Heap
from tests.heaps import NEW, module, spec

DOUBLE, NOTHING = Convert("m", Cast("float64")), Convert("m", Cast("float32"))
SWAP = SwapTensors("p", "t")


def rnn(*, overwrite: bool = False) -> Heap:
    """An `RNNBase` with its two weights."""
    build = Builder(overwrite=overwrite)
    weights = {name: build.parameter() for name in RNN_CLASS.flat_weights}
    build.name("m", "module", build.module({**weights}, cls=RNN_CLASS.name))
    return build.heap()


@frozen
class Example:
    """A program, and where its last action breaks an invariant, if it does."""

    invariant: str
    start: Heap
    program: Program
    under: str
    shown: tuple[tuple[str, str], ...] = ()
    """The place and the path of every violation, in order."""

    def __str__(self) -> str:
        verdict = "broken" if self.shown else "holds"
        return f"{self.invariant} {verdict} {self.under}"


def last_step(start: Heap, program: Program, under: str) -> Step:
    """The last action of a program with the heaps around it."""
    trace = run(start, program, spec(under))
    outcome = trace.outcomes[-1]
    assert len(trace.outcomes) == len(program)
    assert not isinstance(outcome, OutOfScope)
    return Step(trace.heaps[len(program) - 1], program[-1], outcome, spec(under))


def violations(
    name: str, start: Heap, *program: Action, under: str = NEW
) -> list[Violation]:
    """What the last action of a program breaks of an invariant."""
    return list(invariant(name).check(last_step(start, program, under)))


NO_GUARD = "no-weakref-check"
"""A proposal under which weak references do not matter to a swap."""

PLAIN, SWAPS = module(), module(swap=True)
ASSIGNS, WRAPPER = module(overwrite=True), module("TwoTensor")
MINE = module("MyParameter", swap=True, grad=False)
RNN, RNN_ASSIGNS = rnn(), rnn(overwrite=True)
INNER = ("m.weight.a", "m.weight.b", "m.weight.grad.a", "m.weight.grad.b")
