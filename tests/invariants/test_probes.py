"""Probes: short programs that leave the searched heap alone."""

from swapmodel.actions import (
    Backward,
    Forward,
    RegisterHook,
    SetData,
    SwapTensors,
)
from swapmodel.invariants.probes import OUTPUT, backward_from, gradient, probe
from swapmodel.outcomes import OutOfScope, Refused, Undefined
from swapmodel.state.events import Fired
from tests.heaps import NEW, NO_SWAP, at, done, module, spec


def test_a_probe_runs_and_is_gone() -> None:
    """A probe comes to a heap of its own, with what happened in all its actions."""
    heap = done(module(), RegisterHook("p", "h"))
    probed = probe(heap, backward_from("p"), spec(NEW))

    assert probed.done
    assert probed.events == (Fired("h", "tensor"),)
    assert probed.heap is not None
    assert gradient(probed.heap, at(heap, "p")) == ((3, 3),)
    assert heap == done(module(), RegisterHook("p", "h"))


def test_a_probe_is_run_once() -> None:
    """The same question about the same heap has the same answer."""
    one, other = module(), module("TwoTensor")
    first = probe(one, backward_from("p"), spec(NEW))

    assert probe(one, backward_from("p"), spec(NEW)) is first
    assert probe(other, backward_from("p"), spec(NEW)) is not first
    assert probe(one, backward_from("p"), spec(NEW)) is first


def test_a_probe_of_nothing() -> None:
    """A probe without actions comes to the heap itself."""
    heap = module()

    assert probe(heap, (), spec(NEW)).heap is heap


def test_a_probe_ends_at_a_refusal() -> None:
    """What comes after a refusal is not run."""
    heap = module()
    probed = probe(heap, (Backward("t"), Forward("scale", "p", OUTPUT)), spec(NEW))

    assert isinstance(probed.outcome, Refused)
    assert not probed.done
    assert probed.heap == heap


def test_a_probe_keeps_what_happened_before() -> None:
    """Hooks that fired before the refusal are told."""
    heap = done(
        module(),
        RegisterHook("p", "h"),
        Forward("scale", "p", "y"),
        SwapTensors("p", "t"),
    )
    probed = probe(heap, (Backward("y"), Backward("y")), spec(NEW))

    assert probed.events == (Fired("h", "tensor"),)


def test_a_probe_that_is_undefined_or_declined() -> None:
    """A probe ends where torch would crash, or where the model has nothing to say."""
    null = done(module("TwoTensor"), SetData("t", "p"))
    crashed = probe(null, backward_from("t"), spec(NEW))
    declined = probe(null, (SwapTensors("p", "t"), Backward("p")), spec(NO_SWAP))

    assert isinstance(crashed.outcome, Undefined)
    assert isinstance(declined.outcome, OutOfScope)
    assert declined.heap is None
    assert not declined.done


def test_gradients() -> None:
    """A gradient is told by its values, innermost in order; there may be none."""
    heap = done(module("TwoTensor"), Backward("p"), SetData("t", "m.weight"))

    assert gradient(heap, at(heap, "p")) == ((1, 1), (1, 1))
    assert gradient(heap, at(heap, "t")) is None


def test_a_gradient_that_cannot_be_read() -> None:
    """A gradient over a null storage has no values, which is not the same as none."""
    heap = module("TwoTensor")
    null = done(heap, SetData("t", "p"), SwapTensors("t", "p"))

    assert gradient(null, at(null, "m.weight")) is not None
    assert gradient(done(heap, Backward("p")), at(heap, "t")) is None
