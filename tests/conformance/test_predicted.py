"""What the model says that Python would see."""

from swapmodel.actions import Backward, Drop, Forward, SwapTensors, TakeWeakref
from swapmodel.conformance.observation import look
from swapmodel.conformance.predicted import looked, predicted
from swapmodel.outcomes import Done, Refused
from swapmodel.semantics.step import step
from tests.heaps import NEW, done, module, spec


def test_what_is_done() -> None:
    """The observation is that of the heap, and no exception was raised."""
    outcome = step(module(), Forward("scale", "p", "y"), spec(NEW))
    assert isinstance(outcome, Done)
    result, heap = looked(outcome, spec(NEW))

    assert (result.kind, result.errors, result.fired) == ("done", (), ())
    assert (result.then, heap) == look(outcome.heap)
    assert predicted(outcome, spec(NEW)) == result


def test_what_is_refused() -> None:
    """Types and texts are those of the spec, the outermost exception first."""
    heap = done(module(), TakeWeakref("ReferenceType", "p", "r"))
    outcome = step(heap, SwapTensors("p", "t"), spec(NEW))
    assert isinstance(outcome, Refused)
    result = predicted(outcome, spec(NEW))

    assert result.kind == "refused"
    assert result.errors == (
        ("RuntimeError", "Cannot swap t1 because it has weakref associated with it"),
    )


def test_what_calls_back_stands_behind_hooks() -> None:
    """Hooks as they ran; callbacks of tensors that died, sorted."""
    heap = done(module(), Forward("scale", "p", "y"), Backward("y"))
    heap = done(heap, *(TakeWeakref("callback", "t", name) for name in ("b", "a")))
    outcome = step(heap, Drop("t"), spec(NEW))
    assert isinstance(outcome, Done)

    assert predicted(outcome, spec(NEW)).fired == ("a", "b")
