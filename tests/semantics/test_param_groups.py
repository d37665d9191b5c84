"""Groups of parameters: what an optimizer refers to, and what it refuses to."""

from swapmodel.actions import (
    Action,
    AddParamGroup,
    Backward,
    Drop,
    Forward,
    MakeOptimizer,
    OptimizerStep,
    Register,
    RetainGrad,
    View,
)
from swapmodel.semantics.places import resolve
from swapmodel.state.build import Builder
from swapmodel.state.optimizers import parameters
from tests.heaps import at, done, module, refused, values

STEP, P = OptimizerStep("o"), "o.param_groups[0][0]"


def test_references_and_no_owners() -> None:
    """It holds Python objects, each once, which live as long as it does."""
    heap = done(module(), MakeOptimizer("SGD", "m", "o"), Drop("m"))

    assert parameters(heap.optimizers[0]) == (at(heap, P),)
    assert not any(done(heap, Drop("o")).optimizers)
    assert resolve(heap, "o.param_groups[0][1]") is None


def test_what_cannot_be_optimized() -> None:
    """No parameters, or one that a graph computed."""
    b = Builder()
    b.name("m", "module", b.module())
    make = MakeOptimizer("SGD", "m", "o")

    assert refused(b.heap(), make).rule == "optimizer/empty"
    b = Builder()
    b.name("m", "module", b.module({"x": b.tensor(requires_grad=True)}))
    heap = done(b.heap(), MakeOptimizer("SGD", "m", "o"))
    assert heap.optimizers[0].groups == ((0,),)


def test_parameters_that_cannot_be_optimized() -> None:
    """A view put there by hand is no leaf; a step knows no lazy one."""
    heap = done(module(), View("p", "v"), Register("m", "v", "v", "by hand"))
    make = MakeOptimizer("SGD", "m", "o")

    assert refused(heap, make).rule == "optimizer/non-leaf"
    b = Builder()
    w = b.parameter((), cls="UninitializedParameter")
    b.gradient(w, b.tensor(()))
    b.name("m", "module", b.module({"weight": w}))
    assert refused(done(b.heap(), make), STEP).rule == "class/uninitialized"


def test_what_retains_its_gradient_can_be_optimized() -> None:
    """It has a gradient to step by, though it is no leaf."""
    program: tuple[Action, ...] = (
        Forward("scale", "p", "y"),
        RetainGrad("y"),
        Register("m", "y", "y", "by hand"),
        MakeOptimizer("SGD", "m", "o"),
        Backward("y"),
    )
    heap = done(module(grad=False), *program)

    assert parameters(heap.optimizers[0]) == (at(heap, "m.weight"), at(heap, "y"))
    assert values(done(heap, STEP), "y") == (0, 3)


def test_shared_children_count_once() -> None:
    """A tensor or a module that stands twice gives one parameter."""
    b = Builder()
    w = b.parameter()
    child = b.module({"weight": w})
    children = {"one": child, "two": child}
    b.name("m", "module", b.module({"tied": w}, children=children))
    heap = done(b.heap(), MakeOptimizer("SGD", "m", "o"))

    assert heap.optimizers[0].groups == ((w,),)


def test_groups() -> None:
    """Each is stepped by itself; a parameter is in one alone."""
    b = Builder()
    one, two = b.parameter((1, 2)), b.parameter((3, 4))
    for t in (one, two):
        b.gradient(t, b.tensor((1, 1)))
    b.name("m", "module", b.module({"one": one}))
    b.name("n", "module", b.module({"one": two}))
    b.name("e", "module", b.module())
    start = done(b.heap(), MakeOptimizer("SGD-momentum", "m", "o"))
    heap = done(start, AddParamGroup("o", "e"), AddParamGroup("o", "n"), STEP)

    assert heap.optimizers[0].groups == ((one,), (), (two,))
    assert values(heap, "o.state[2][0].momentum_buffer") == (1, 1)
    assert values(heap, "o.param_groups[2][0]") == (2, 3)
    assert refused(heap, AddParamGroup("o", "m")).rule == "optimizer/two-groups"
    by_hand = done(heap, View("m.one", "v"), Register("e", "v", "v", "by hand"))
    assert refused(by_hand, AddParamGroup("o", "e")).rule == "optimizer/non-leaf"
