"""The phases with which a swap would check everything before it moves anything."""

from swapmodel.actions import Backward, Forward, SwapTensors, TakeWeakref, View
from swapmodel.outcomes import Done, Refused
from swapmodel.semantics.step import step
from tests.heaps import done, module, spec

ATOMIC = spec("atomic-swap")
SWAP = SwapTensors("p", "t")


def test_nobody_is_poisoned_by_a_refusal() -> None:
    """The first tensor's graph runs after the second one was refused."""
    for taken in (View("t", "v"), TakeWeakref("_WeakTensorRef", "t", "c")):
        heap = done(module(), Forward("scale", "p", "y"), taken)
        outcome = step(heap, SWAP, ATOMIC)

        assert isinstance(outcome, Refused)
        assert isinstance(step(outcome.heap, Backward("y"), ATOMIC), Done)


def test_a_swap_that_happens_poisons() -> None:
    """As on every release, the pending graph is refused then."""
    heap = done(module(), Forward("scale", "p", "y"))
    outcome = step(heap, SWAP, ATOMIC)

    assert isinstance(outcome, Done)
    assert isinstance(step(outcome.heap, Backward("y"), ATOMIC), Refused)
