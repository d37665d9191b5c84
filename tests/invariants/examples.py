"""Programs that break an invariant, and programs on which it holds."""

from attrs import frozen

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    CastData,
    Convert,
    Detach,
    Forward,
    MakeOptimizer,
    NameTensor,
    OptimizerStep,
    Program,
    Register,
    RegisterHook,
    SetAttribute,
    SetData,
    SwapTensors,
    TakeWeakref,
    Tie,
    View,
    Write,
)
from swapmodel.conversions import ByRole, Identity, Other, RaiseAt, ToDevice, Wrap
from swapmodel.invariants.catalogue import invariant
from swapmodel.invariants.violation import Step, Violation
from swapmodel.outcomes import OutOfScope
from swapmodel.run import run
from swapmodel.state.build import Builder
from swapmodel.state.classes import RNN as RNN_CLASS
from swapmodel.state.heap import Heap
from tests.heaps import LATE, NEW, NO_SWAP, module, spec

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
        "ties",
        ASSIGNS,
        (Tie("m", "tied", "m.weight"), DOUBLE),
        NEW,
        (("m.tied", "assign"),),
    ),
    Example(
        "ties",
        PLAIN,
        (
            Register("m", "one", "t", "buffer"),
            Register("m", "two", "t", "buffer"),
            DOUBLE,
        ),
        NEW,
        (("m.two", "replace"),),
    ),
    Example("ties", PLAIN, (Tie("m", "tied", "m.weight"), DOUBLE), NEW),
    Example("ties", ASSIGNS, (Tie("m", "other", "p"), DOUBLE), NEW),
    Example("ties", ASSIGNS, (Tie("m", "tied", "m.weight"), SWAP), NEW),
    Example(
        "observers",
        ASSIGNS,
        (NameTensor("m.weight", "w"), DOUBLE),
        NEW,
        (("w", "assign"),),
    ),
    Example(
        "observers",
        ASSIGNS,
        (
            MakeOptimizer("SGD", "m", "opt"),
            TakeWeakref("ReferenceType", "m.weight", "r"),
            DOUBLE,
        ),
        NEW,
        (("opt.param_groups[0][0]", "assign"), ("r", "assign")),
    ),
    Example("observers", SWAPS, (NameTensor("m.weight", "w"), DOUBLE), NEW),
    Example(
        "observers",
        PLAIN,
        (
            MakeOptimizer("SGD", "m", "opt"),
            TakeWeakref("_WeakTensorRef", "m.weight", "r"),
            DOUBLE,
        ),
        NEW,
    ),
    Example("observers", ASSIGNS, (NameTensor("m.weight", "w"), SWAP), NEW),
    Example(
        "aliasing",
        PLAIN,
        (Detach("m.weight", "d"), DOUBLE),
        NEW,
        (("d", "data"),),
    ),
    Example(
        "aliasing",
        PLAIN,
        (SetData("p", "m.weight"), Tie("m", "other", "p"), DOUBLE),
        NEW,
        (("m.other", "data"), ("p", "data")),
    ),
    Example(
        "aliasing",
        ASSIGNS,
        (NameTensor("m.weight", "w"), Convert("m", Other("t"))),
        NEW,
        (("t", "assign"),),
    ),
    Example("aliasing", PLAIN, (Detach("m.weight", "d"), NOTHING), NEW),
    Example("aliasing", PLAIN, (DOUBLE,), NEW),
    Example(
        "gradient-kept",
        SWAPS,
        (TakeWeakref("ReferenceType", "m.weight.grad", "r"), DOUBLE),
        NEW,
        (("m.weight.grad", "swap"),),
    ),
    Example(
        "gradient-kept",
        PLAIN,
        (Convert("m", ByRole(ToDevice("meta"), Identity())),),
        NEW,
        (("m.weight.grad", "assign"),),
    ),
    Example("gradient-kept", ASSIGNS, (DOUBLE,), NEW),
    Example("gradient-kept", SWAPS, (DOUBLE,), NEW),
    Example("gradient-kept", PLAIN, (DOUBLE,), NEW),
    Example(
        "gradient-fit",
        PLAIN,
        (CastData("m.weight", "float64"),),
        NEW,
        (("m.weight.grad", "direct"),),
    ),
    Example(
        "gradient-fit",
        PLAIN,
        (Forward("scale", "p", "y"), SWAP),
        NEW,
        (("t", "direct"),),
    ),
    Example(
        "gradient-fit",
        PLAIN,
        (Forward("scale", "p", "y"), SwapTensors("p", "m.weight")),
        NEW,
        (("m.weight", "direct"),),
    ),
    Example("gradient-fit", PLAIN, (DOUBLE,), NEW),
    Example("gradient-fit", SWAPS, (DOUBLE,), NEW),
    Example("gradient-fit", PLAIN, (SetData("m.weight", "t"),), NEW),
    Example("gradient-fit", PLAIN, (SwapTensors("p", "m.weight"),), NEW),
    Example(
        "parameter-kind",
        MINE,
        (DOUBLE,),
        NEW,
        (("m.weight", "swap"),),
    ),
    Example("parameter-kind", PLAIN, (DOUBLE,), NEW),
    Example("parameter-kind", PLAIN, (Convert("m", Wrap("TwoTensor")),), NEW),
    Example("parameter-kind", MINE, (SetData("m.weight", "t"),), NEW),
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
        (("m.weight", "direct"), ("p", "direct")),
    ),
    Example("hooks", PLAIN, (RegisterHook("m.weight", "h"), DOUBLE), NEW),
    Example("hooks", SWAPS, (RegisterHook("p", "h"), DOUBLE), NEW),
    Example("hooks", PLAIN, (RegisterHook("p", "h"), SetData("p", "t")), NEW),
    Example("hooks", PLAIN, (RegisterHook("p", "h"), SWAP), NEW, (("t", "direct"),)),
    Example(
        "hooks",
        PLAIN,
        (RegisterHook("p", "h"), SwapTensors("p", "m.weight")),
        NEW,
        (("m.weight", "direct"), ("p", "direct")),
    ),
    Example(
        "hooks",
        PLAIN,
        (
            Forward("scale", "m.weight", "y"),
            RegisterHook("m.weight", "h", "node"),
            DOUBLE,
        ),
        NEW,
        (("m.weight", "data"),),
    ),
    Example(
        "weakrefs",
        PLAIN,
        (TakeWeakref("WeakIdKeyDictionary", "p", "r"), SWAP),
        NO_GUARD,
        (("r", "direct"),),
    ),
    Example(
        "weakrefs", PLAIN, (TakeWeakref("ReferenceType", "p", "r"), SWAP), NO_GUARD
    ),
    Example(
        "weakrefs", PLAIN, (TakeWeakref("WeakIdKeyDictionary", "p", "r"), SWAP), NEW
    ),
    Example("weakrefs", RNN, (DOUBLE,), NEW),
    Example(
        "weakrefs",
        RNN,
        (Convert("m", RaiseAt(2, Cast("float64"))),),
        NEW,
        (("m._flat_weight_refs[0]", "data"), ("m._flat_weight_refs[1]", "data")),
    ),
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
    Example(
        "version",
        PLAIN,
        (SetData("p", "t"), Write("t")),
        NEW,
        (("p", "direct"),),
    ),
    Example("version", PLAIN, (Detach("p", "d"), Write("d")), NEW),
    Example("version", PLAIN, (SetData("p", "t"),), NEW),
    Example("version", PLAIN, (Write("p"),), NEW),
    Example(
        "training-kept",
        ASSIGNS,
        (MakeOptimizer("SGD", "m", "opt"), DOUBLE),
        NEW,
        (("m.weight", "assign"),),
    ),
    Example(
        "training-kept",
        PLAIN,
        (MakeOptimizer("Adam", "m", "opt"), OptimizerStep("opt"), DOUBLE),
        NEW,
        (("m.weight", "data"),),
    ),
    Example("training-kept", PLAIN, (MakeOptimizer("SGD", "m", "opt"), DOUBLE), NEW),
    Example("training-kept", SWAPS, (MakeOptimizer("SGD", "m", "opt"), DOUBLE), NEW),
    Example("training-kept", ASSIGNS, (DOUBLE,), NEW),
    Example(
        "memory-safe",
        WRAPPER,
        (SetData("t", "p"),),
        NEW,
        (("t", "direct"),),
    ),
    Example("memory-safe", WRAPPER, (SetData("p", "t"),), NEW),
    Example("memory-safe", WRAPPER, (SetData("t", "p"), Write("t")), NEW),
    Example(
        "atomic-module",
        RNN_ASSIGNS,
        (Convert("m", RaiseAt(2, Identity())),),
        NEW,
        (("m._flat_weights[0]", "assign"),),
    ),
    Example("atomic-module", RNN, (Convert("m", RaiseAt(1, Identity())),), NEW),
    Example("well-formed", PLAIN, (DOUBLE,), NEW),
)
"""Those that no program can break are broken by hand in the tests of each."""
