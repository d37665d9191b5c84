"""In what two worlds differ, by place and field."""

from swapmodel.actions import Backward, Forward
from swapmodel.conformance.differences import differences
from swapmodel.conformance.observation import observe
from swapmodel.state.build import Builder
from tests.conformance.test_observation import result
from tests.heaps import done, module


def test_equal_results_do_not_differ() -> None:
    """Nothing is named when nothing differs."""
    seen = result(observe(module()))

    assert differences(seen, seen) == {}


def test_differences_are_named_by_place_and_field() -> None:
    """Both values of everything that differs, the model's first."""
    start = module(grad=False)
    graph = done(start, Forward("scale", "p", "y"))
    found = differences(
        result(observe(done(graph, Backward("y")))), result(observe(graph))
    )

    assert found["p.grad"][1] is None
    assert "p.values" not in found


def test_unknown_values_are_not_compared() -> None:
    """Where the model knows no values, anything will do."""
    known, unknown = Builder(), Builder()
    known.name("t", "tensor", known.tensor((3, 4)))
    unknown.name("t", "tensor", unknown.tensor(None))
    seen = result(observe(known.heap()))
    unseen = result(observe(unknown.heap()))

    assert differences(unseen, seen) == {}
    assert differences(seen, unseen) == {"t.values": ((3, 4), None)}


def test_errors_fit_by_type_and_text() -> None:
    """The model may leave open which of two types, and parts of a text."""
    then = observe(module())
    model = result(then, errors=(("NameError | AttributeError", "no ... here"),))
    fits = result(then, errors=(("AttributeError", "no `p.grad` here"),))
    other = result(then, errors=(("RuntimeError", "no `p.grad` here"),))

    assert differences(model, fits) == {}
    assert list(differences(model, other)) == ["errors"]
