"""What a script compares."""

from swapmodel.actions import ClearGrad, Drop
from swapmodel.invariants.violation import Cause, Violation
from swapmodel.report.evidence import Evidence, evidence, whole_program
from swapmodel.run import Counterexample, run
from swapmodel.specfiles.read import load_spec
from tests.report import examples


def shown(one: Counterexample) -> tuple[Evidence, ...]:
    """The evidence of a counterexample under its own spec."""
    trace = run(one.heap, whole_program(one), load_spec(one.spec))
    return evidence(one, trace)


def test_the_violation_itself_is_compared() -> None:
    """Both sides of an incoherent wrapper are there."""
    found = shown(examples.left_behind())
    known = {one.code: one.predicted for one in found}

    assert known["m.weight.dtype"] == "torch.float64"
    assert 'id(m.weight) == before["m.weight"]' in known


def test_hooks_that_fired_are_compared() -> None:
    """An empty list of hooks is evidence as well."""

    assert Evidence("fired", "[]") in shown(examples.dead_hook())


def test_a_use_count_is_asked_only_where_there_is_one() -> None:
    """Releases before 2.4 have no `_use_count`."""
    needs = {one.code: one.needs for one in shown(examples.torn())}

    assert needs["m.weight._use_count()"] == "_use_count"


def test_both_operands_of_a_swap_are_compared() -> None:
    """What moved to the other tensor is evidence."""
    known = {one.code: one.predicted for one in shown(examples.torn())}

    assert known["type(m.weight).__name__"] == "'Parameter'"
    assert known["type(p).__name__"] == "'TwoTensor'"
    assert known['hasattr(m.weight, "a")'] == "False"


def test_what_is_gone_is_asked_by_its_name() -> None:
    """A lost gradient and a deleted variable are asked without touching them."""
    codes = []
    for place, action in (("m.weight.grad", ClearGrad("m.weight")), ("p", Drop("p"))):
        violation = Violation("identity", place, "gradient", "direct", "there", "gone")
        cause = Cause("identity", "direct", "", "gradient")
        one = Counterexample(
            "torch-2.13",
            "example",
            "wrapper",
            examples.wrapper_heap(),
            (action,),
            violation,
            cause,
        )
        codes += [(one.code, one.predicted) for one in shown(one)]

    assert ("m.weight.grad is None", "True") in codes
    assert ('"p" in globals()', "False") in codes
