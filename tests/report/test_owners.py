"""A refused use count names the owners."""

from swapmodel.actions import Backward, Cast, Convert, Forward, SwapTensors, View
from swapmodel.report.explain import explain_program
from swapmodel.report.owners import owners
from swapmodel.run import run
from swapmodel.semantics import places
from swapmodel.specfiles.read import load_spec
from tests.report import examples

SPEC = load_spec("torch-2.13")


def test_a_swap_names_who_owns_the_operand() -> None:
    """The operand of a swap is told by its place, its owners by theirs."""
    program = (View("p", "v"), SwapTensors("m.weight", "p"))
    told = explain_program(examples.wrapper_heap(), program, SPEC)[-1]

    assert told.refused_for == "p"
    assert told.owners == (
        "its Python object",
        "the view v",
        "its AccumulateGrad node, kept by the graph of v",
    )


def test_a_conversion_names_who_owns_the_parameter() -> None:
    """The parameter is found by the key that the outer refusal tells."""
    program = (Forward("square", "m.weight", "y"), Convert("m", Cast("float64")))
    told = explain_program(examples.wrapper_heap(), program, SPEC)[-1]

    assert told.refused_for == "m.weight"
    assert told.owners == (
        "its Python object",
        "its AccumulateGrad node, kept by the graph of y",
        "what PowBackward0 saved, kept by the graph of y",
    )


def test_a_gradient_is_owned_by_what_it_is_the_gradient_of() -> None:
    """Being somebody's `.grad` is an owner."""
    heap = run(
        examples.wrapper_heap(), (Forward("scale", "p", "y"), Backward("y")), SPEC
    ).heaps[-1]
    gradient = dict(places.places(heap))["p.grad"]

    assert owners(heap, gradient) == ("its Python object", "the .grad of p")


def test_a_view_of_a_wrapper_owns_it_twice() -> None:
    """A view of a wrapper also keeps the function that makes it again."""
    heap = run(examples.wrapper_heap(), (View("m.weight", "v"),), SPEC).heaps[-1]
    weight = dict(places.places(heap))["m.weight"]

    assert owners(heap, weight) == (
        "its Python object",
        "the view v",
        "how the view v is made again",
        "its AccumulateGrad node, kept by the graph of v",
    )
