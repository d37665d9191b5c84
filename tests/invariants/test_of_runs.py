"""Claims about what would come of it: hooks and graphs."""

import pytest

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    CastData,
    ClearGrad,
    Convert,
    Drop,
    Forward,
    MakeOptimizer,
    OptimizerStep,
    RegisterHook,
    RequiresGrad,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
    Write,
)
from swapmodel.conversions import ToEmpty
from swapmodel.outcomes import Done
from swapmodel.run import run
from tests.heaps import LATE, NEW, NO_SWAP, done, module, spec
from tests.invariants.examples import DOUBLE, NOTHING, SWAP, violations

Y, SQUARED = Forward("scale", "p", "y"), Forward("square", "p", "y")

# -- Hooks -----------------------------------------------------------------------------


def test_a_dead_hook_is_told() -> None:
    """A violation tells what is listed and what fires, and the probe that shows it."""
    (found,) = violations(
        "hooks", module(swap=True), RegisterHook("m.weight", "h"), NOTHING
    )

    assert found.was == "hooks registered before fire: h"
    assert found.now == "listed: h; fired: none"
    assert found.probe == (Forward("scale", "m.weight", "probe"), Backward("probe"))


def test_a_hook_that_a_swap_takes_along() -> None:
    """After a direct swap, what an object lists is not what fires for it."""
    silent, listed = violations(
        "hooks", module(), RegisterHook("p", "h"), SwapTensors("p", "m.weight")
    )

    assert (silent.place, silent.was) == (
        "m.weight",
        "hooks that are listed fire: none",
    )
    assert silent.now == "listed: none; fired: h"
    assert (listed.place, listed.was) == ("p", "hooks that are listed fire: h")
    assert listed.now == "listed: h; fired: none"


@pytest.mark.parametrize("under", [NO_SWAP, LATE, NEW])
def test_hooks_under_a_cast_of_data(under: str) -> None:
    """A conversion through `.data` keeps hooks alive, in every release."""
    heap = done(module(), RegisterHook("m.weight", "h"), under=under)

    assert violations("hooks", heap, DOUBLE, under=under) == []


def test_a_hook_that_assigning_loses() -> None:
    """A new parameter has no hooks; the old one's are gone with it."""
    heap = done(module(overwrite=True), RegisterHook("m.weight", "h"))
    (found,) = violations("hooks", heap, DOUBLE)

    assert found.now == "listed: none; fired: none"


@pytest.mark.parametrize(
    ("before", "action"),
    [
        ((), DOUBLE),
        ((RegisterHook("p", "h"),), View("p", "v")),
        ((RegisterHook("p", "h"),), DOUBLE),
        ((RegisterHook("p", "h"), SwapTensors("p", "m.weight")), NOTHING),
        ((RegisterHook("p", "h"), SwapTensors("p", "t")), SwapTensors("t", "p")),
    ],
    ids=["no hook", "no content", "of another", "dead before", "revived"],
)
def test_what_is_not_asked(before: tuple[Action, ...], action: Action) -> None:
    """Hooks that were dead before, or are not touched, are nobody's fault now."""
    assert violations("hooks", done(module(), *before), action) == []


def test_a_probe_that_is_refused() -> None:
    """Where no backward can run, nothing is said of hooks."""
    heap = done(module("TwoTensor"), RegisterHook("p", "h"))
    heap = done(heap, TakeWeakref("_WeakTensorRef", "p", "r"))

    assert violations("hooks", heap, SwapTensors("p", "t"), under=LATE) == []


# -- Graphs ----------------------------------------------------------------------------


def test_a_poison_is_told() -> None:
    """A refused swap that poisons a graph is told where the gradient would go."""
    (found,) = violations("graph", module(), Y, View("t", "v"), SWAP)

    assert (found.place, found.kind) == ("p", "variable")
    assert found.was == "y.backward() runs, as the operation was refused"
    assert found.now == "refused by backward/poisoned"
    assert found.probe == (Backward("y"),)


def test_a_poison_by_a_conversion() -> None:
    """The parameter of a refused conversion is named with its kind and path."""
    heap = done(module(swap=True), Forward("scale", "m.weight", "y"))
    refused = done(heap, TakeWeakref("_WeakTensorRef", "m.weight", "r"))
    (found,) = violations("graph", refused, DOUBLE)

    assert (found.place, found.kind, found.path) == ("m.weight", "parameter", "swap")


def test_a_wrong_gradient_is_told() -> None:
    """A gradient that is computed from other data is told with both values."""
    (found,) = violations("graph", module(), SQUARED, SetData("p", "t"))

    assert found.was == "y.backward() gives p the gradient ((6, 0),)"
    assert found.now == "((2, 4),)"


def test_a_gradient_that_was_emptied() -> None:
    """What has been emptied on purpose says nothing against the gradient."""
    start, emptied = (Forward("square", "m.weight", "y"),), Convert("m", ToEmpty("cpu"))
    trace = run(module(), (*start, emptied, Backward("y")), spec(NEW))

    assert isinstance(trace.outcomes[-1], Done)
    assert violations("graph", module(), *start, emptied) == []


def test_a_backward_that_could_not_run_before() -> None:
    """A graph that was freed or poisoned before is not broken by what follows."""
    freed = done(module(), SQUARED, Backward("y"))
    poisoned = done(module(), Y, SwapTensors("p", "m.weight"))

    assert violations("graph", freed, SetData("p", "t")) == []
    assert violations("graph", poisoned, SetData("p", "t")) == []


def test_a_loud_refusal() -> None:
    """A swap that is done may refuse a backward loudly; that is no wrong gradient."""
    assert violations("graph", module(), Y, SWAP) == []
    heap = done(module(swap=True), Forward("scale", "m.weight", "y"))
    assert violations("graph", heap, Convert("m", Cast("float64"))) == []


def test_every_pending_graph_is_asked() -> None:
    """Each live output has its own backward."""
    heap = done(module(), SQUARED, Forward("square", "p", "z"))
    found = violations("graph", heap, SetData("p", "t"))

    assert [one.probe for one in found] == [(Backward("y"),), (Backward("z"),)]


def test_what_is_gone_is_not_asked() -> None:
    """A leaf that died with its variable gets no gradient to compare."""
    heap = done(module(), SQUARED, Drop("p"))

    assert violations("graph", heap, CastData("t", "float64")) == []
    assert violations("graph", heap, SetData("y", "t")) == []


def test_a_leaf_that_stands_nowhere() -> None:
    """Where the gradient goes to no place, the graph alone is told."""
    heap = done(
        module("TwoTensor"), Y, TakeWeakref("_WeakTensorRef", "y", "r"), Drop("p")
    )
    (found,) = violations("graph", heap, SwapTensors("y", "t"))

    assert (found.place, found.kind) == ("", "variable")
    assert found.now == "refused by dispatch/no-handler"


def test_graphs_are_not_asked_of_every_action() -> None:
    """An action that gives no tensor other content is let through unasked."""
    start = done(module(), SQUARED)

    assert violations("graph", start, Write("p")) == []
    assert violations("graph", start, SetData("p", "t")) != []


# -- Training --------------------------------------------------------------------------


TRAINED = done(module(), MakeOptimizer("SGD", "m", "opt"))


def test_nothing_is_promised_of_a_refused_conversion() -> None:
    """What a refusal loses is what `atomic-module` asks about."""
    heap = done(module(swap=True), MakeOptimizer("SGD", "m", "opt"))
    heap = done(heap, TakeWeakref("ReferenceType", "m.weight", "r"))

    assert violations("training-kept", heap, DOUBLE) == []


def test_a_parameter_that_was_not_trained_before() -> None:
    """A step that did not change a parameter need not change it now."""
    heap = done(TRAINED, RequiresGrad("m.weight", False), ClearGrad("m.weight"))

    assert violations("training-kept", heap, DOUBLE) == []


def test_a_step_that_is_refused() -> None:
    """Adam refuses averages of another dtype than the parameter's."""
    heap = done(module(), MakeOptimizer("Adam", "m", "opt"), OptimizerStep("opt"))
    (found,) = violations("training-kept", heap, DOUBLE)

    assert found.was == "opt.step() changes m.weight"
    assert found.now.startswith("refused by ")


def test_a_step_that_was_refused_before() -> None:
    """A second conversion is not to blame for what the first one did."""
    heap = done(module(), MakeOptimizer("Adam", "m", "opt"), OptimizerStep("opt"))

    assert violations("training-kept", done(heap, DOUBLE), DOUBLE) == []
