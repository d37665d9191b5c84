"""Programs that break an invariant, and programs on which it holds."""

from attrs import frozen

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    CastData,
    Convert,
    Forward,
    Program,
    RegisterHook,
    SetAttribute,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.invariants.catalogue import invariant
from swapmodel.invariants.violation import Step, Violation
from swapmodel.outcomes import OutOfScope
from swapmodel.run import run
from swapmodel.state.heap import Heap
from tests.heaps import LATE, NEW, NO_SWAP, module, spec

DOUBLE, NOTHING = Convert("m", Cast("float64")), Convert("m", Cast("float32"))
SWAP = SwapTensors("p", "t")


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


PLAIN, SWAPS = module(), module(swap=True)
ASSIGNS, WRAPPER = module(overwrite=True), module("TwoTensor")
INNER = ("m.weight.a", "m.weight.b", "m.weight.grad.a", "m.weight.grad.b")

EXAMPLES = (
    Example("identity", ASSIGNS, (DOUBLE,), NEW, (("m.weight", "assign"),)),
    Example("identity", ASSIGNS, (NOTHING,), NEW, (("m.weight", "assign"),)),
    Example(
        "identity",
        module(buffer=True),
        (DOUBLE,),
        NEW,
        (("m.running", "replace"),),
    ),
    Example("identity", PLAIN, (DOUBLE,), NEW),
    Example("identity", SWAPS, (DOUBLE,), NEW),
    Example("identity", ASSIGNS, (SWAP,), NEW),
    Example(
        "coherence",
        WRAPPER,
        (DOUBLE,),
        NO_SWAP,
        tuple((place, "data") for place in ("m.weight",) * 2 + ("m.weight.grad",) * 2),
    ),
    Example(
        "coherence", WRAPPER, (CastData("p", "float64"),), NEW, (("p", "direct"),) * 2
    ),
    Example("coherence", WRAPPER, (DOUBLE,), NEW),
    Example("coherence", WRAPPER, (CastData("p", "float64"),) * 2, NEW),
    Example(
        "values",
        WRAPPER,
        (DOUBLE,),
        NO_SWAP,
        (("m.weight", "data"), ("m.weight.grad", "data")),
    ),
    Example("values", WRAPPER, (SetData("p", "t"),), NEW, (("p", "direct"),)),
    Example("values", WRAPPER, (SetData("t", "p"),), NEW, (("t", "direct"),)),
    Example("values", WRAPPER, (CastData("p", "float64"),), NEW, (("p", "direct"),)),
    Example("values", WRAPPER, (DOUBLE,), LATE),
    Example("values", PLAIN, (SetData("p", "t"),), NEW),
    Example("values", PLAIN, (SWAP,), NEW),
    Example("values", PLAIN, (CastData("p", "float64"),), NEW),
    Example("values", PLAIN, (View("p", "v"),), NEW),
    Example("values", WRAPPER, (CastData("p", "float64"), SetData("p", "t")), NEW),
    Example(
        "attributes",
        SWAPS,
        (SetAttribute("m.weight", "tag"), NOTHING),
        NEW,
        (("m.weight", "swap"),),
    ),
    Example(
        "attributes",
        ASSIGNS,
        (SetAttribute("m.weight.grad", "tag"), DOUBLE),
        NEW,
        (("m.weight.grad", "assign"),),
    ),
    Example("attributes", PLAIN, (SetAttribute("m.weight", "tag"), DOUBLE), NEW),
    Example("attributes", SWAPS, (SetAttribute("p", "tag"), DOUBLE), NEW),
    Example("attributes", SWAPS, (SetAttribute("p", "tag"), SWAP), NEW),
    Example(
        "hooks",
        WRAPPER,
        (RegisterHook("m.weight", "h"), NOTHING),
        NEW,
        (("m.weight", "swap"),),
    ),
    Example(
        "hooks",
        WRAPPER,
        (RegisterHook("p", "h"), SwapTensors("p", "m.weight")),
        NEW,
        (("p", "direct"),),
    ),
    Example("hooks", PLAIN, (RegisterHook("m.weight", "h"), DOUBLE), NEW),
    Example("hooks", SWAPS, (RegisterHook("p", "h"), DOUBLE), NEW),
    Example("hooks", PLAIN, (RegisterHook("p", "h"), SetData("p", "t")), NEW),
    Example("hooks", PLAIN, (RegisterHook("p", "h"), SWAP), NEW),
    Example(
        "graph",
        PLAIN,
        (Forward("scale", "p", "y"), View("t", "v"), SWAP),
        NEW,
        (("p", "direct"),),
    ),
    Example(
        "graph",
        PLAIN,
        (Forward("square", "p", "y"), SetData("p", "t")),
        NEW,
        (("p", "direct"),),
    ),
    Example("graph", PLAIN, (Forward("scale", "p", "y"), View("t", "v"), SWAP), LATE),
    Example("graph", PLAIN, (Forward("scale", "p", "y"), SWAP), NEW),
    Example("graph", PLAIN, (Forward("square", "m.weight", "y"), DOUBLE), NEW),
    Example("graph", PLAIN, (Forward("scale", "p", "y"), SetData("p", "t")), NEW),
    Example("graph", PLAIN, (Forward("scale", "p", "y"), Backward("y"), SWAP), NEW),
    Example(
        "atomic-tensor",
        PLAIN,
        (View("p", "v"), SWAP),
        LATE,
        (("p", "direct"), ("t", "direct")),
    ),
    Example(
        "atomic-tensor",
        WRAPPER,
        (TakeWeakref("_WeakTensorRef", "m.weight", "r"), DOUBLE),
        NEW,
        (("m.weight", "swap"),),
    ),
    Example("atomic-tensor", PLAIN, (View("p", "v"), SWAP), NEW),
    Example("atomic-tensor", PLAIN, (SWAP,), LATE),
    Example(
        "atomic-module",
        SWAPS,
        (TakeWeakref("ReferenceType", "m.weight.grad", "r"), DOUBLE),
        NEW,
        (("m.weight", "swap"), ("m.weight.grad", "swap")),
    ),
    Example(
        "atomic-module",
        SWAPS,
        (TakeWeakref("ReferenceType", "m.weight", "r"), DOUBLE),
        NEW,
    ),
    Example("atomic-module", SWAPS, (DOUBLE,), NEW),
    Example("use-count", PLAIN, (SWAP,), NEW),
    Example("use-count", PLAIN, (View("p", "v"), SWAP), NEW),
    Example("use-count", PLAIN, (Forward("scale", "p", "y"), SWAP), LATE),
    Example("well-formed", PLAIN, (DOUBLE,), NEW),
)
"""Those that no program can break are broken by hand in the tests of each."""
