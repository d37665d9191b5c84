"""Optimizer actions: what each needs and does when nothing is said."""

from swapmodel.actions import operands
from swapmodel.optimizer_actions import MakeOptimizer, OptimizerStep, ZeroGrad
from swapmodel.outcomes import OutOfScope
from swapmodel.semantics.places import resolve
from swapmodel.semantics.step import step
from tests.heaps import NEW, done, module, spec


def test_operands() -> None:
    """An optimizer is made of a module, and stepped by its variable."""
    assert operands(MakeOptimizer) == (("module", "module"),)
    assert (
        operands(OptimizerStep) == operands(ZeroGrad) == (("optimizer", "optimizer"),)
    )


def test_gradients_are_taken_away_unless_said_otherwise() -> None:
    """As `zero_grad` does since 2.0."""
    heap = done(module(), MakeOptimizer("SGD", "m", "o"), ZeroGrad("o"))

    assert resolve(heap, "m.weight.grad") is None


def test_an_optimizer_is_no_module() -> None:
    """What stands at a place has to be of the right kind."""
    heap = done(module(), MakeOptimizer("SGD", "m", "o"))

    for action in (MakeOptimizer("SGD", "o", "a"), OptimizerStep("m")):
        assert isinstance(step(heap, action, spec(NEW)), OutOfScope)
