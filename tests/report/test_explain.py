"""What is told of a program, as data."""

from swapmodel.actions import Cast, Convert, Drop, Forward, SetData
from swapmodel.report.explain import explain, explain_action, explain_program
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.read import load_spec
from tests.report import examples

SPEC = load_spec("torch-2.13")


def test_phases_add_up() -> None:
    """The last phase that is told leaves what the action leaves."""
    told, _ = explain_action(
        examples.wrapper_heap(), Convert("m", Cast("float64")), SPEC
    )
    last = {
        change.about: change.now for phase in told.phases for change in phase.changes
    }
    kept = [one for one in told.changes if "grad" not in one.about]

    assert told.outcome == "done"
    assert told.paths == (("m.weight", "swap"), ("m.weight.grad", "swap"))
    assert kept
    assert [last[one.about] for one in kept] == [one.now for one in kept]


def test_a_refusal_tells_the_chain_and_its_texts() -> None:
    """Rules and texts are there, outermost first."""
    one = explain(examples.torn(), SPEC, "python torn.py").then[-1]

    assert one.outcome == "refused"
    assert [(link.rule, link.operand) for link in one.refusals] == [
        ("swap/no-impl-weakrefs", "t1")
    ]
    assert (
        one.refusals[0].text == "Expected no weakrefs to t1's Tensor object but got  1"
    )


def test_a_probe_is_marked() -> None:
    """What only shows the consequences is told apart from the program."""
    one = explain(examples.dead_hook(), SPEC, "python hook.py")

    assert [told.probe for told in one.then] == [False, False, True, True]
    assert one.then[-1].fired == ()


def test_a_crash_ends_the_program() -> None:
    """Nothing is told of what would come after undefined behaviour."""
    program = (SetData("p", "m.weight"), Forward("square", "p", "y"), Drop("y"))
    told = explain_program(examples.wrapper_heap(), program, SPEC)

    assert [one.outcome for one in told] == ["done", "undefined"]
    assert told[-1].why


def test_out_of_scope_is_told() -> None:
    """Where the model declines to say, it says why."""
    nothing = Spec(id="nothing", operations=())
    told, _ = explain_action(
        examples.wrapper_heap(), examples.torn().program[-1], nothing
    )

    assert told.outcome == "out of scope"
    assert told.why == "nothing has no swap_tensors"


def test_a_refused_program_goes_on() -> None:
    """As Python does after `except`."""
    program = (Drop("nothing"), Drop("p"))
    told = explain_program(examples.wrapper_heap(), program, SPEC)

    assert [one.outcome for one in told] == ["refused", "done"]
