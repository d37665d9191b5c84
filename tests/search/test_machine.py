"""The Hypothesis machine runs clean where it should and finds what is planted."""

import pytest
from attrs import evolve
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from swapmodel.actions import ACTIONS, ClearGrad, Convert, SetAttribute
from swapmodel.search.machine import empty_machine, machine, snake_case
from swapmodel.semantics.spec import Spec
from tests.search.starts import SMALL, spec


def without_phase(whole: Spec, operation: str, phase: str) -> Spec:
    """The same spec without one phase of one operation."""
    kept = [
        (name, tuple(one for one in phases if (name, one) != (operation, phase)))
        for name, phases in whole.operations
    ]
    return evolve(whole, id="broken", operations=tuple(kept))


@pytest.mark.parametrize("release", ["torch-2.1", "torch-2.4"])
def test_no_program_breaks_a_law_of_heaps(release: str) -> None:
    """Whatever torch loses on the way, long programs leave heaps well formed."""
    found = machine(
        spec(release), SMALL, known=lambda one: one.invariant != "well-formed"
    )

    run_state_machine_as_test(found)


def test_planted_fault_is_found_and_shrunk() -> None:
    """A swap that forgets the impls is found, and its program shrinks to one action."""
    broken = without_phase(spec("torch-2.4"), "swap_tensors", "move-impl")
    found = machine(
        broken,
        SMALL,
        known=lambda one: one.path != "swap",
        actions=(Convert, SetAttribute, ClearGrad),
    )
    few = settings(
        database=None,
        max_examples=400,
        derandomize=True,
        stateful_step_count=4,
        phases=[Phase.generate, Phase.shrink],
    )

    with pytest.raises(AssertionError, match="is not known") as caught:
        run_state_machine_as_test(found, settings=few)

    printed = "\n".join(caught.value.__notes__).splitlines()
    program = [line for line in printed if line.startswith("state")]
    assert len(program) == 4
    assert program[0] == "state = machine_of_broken()"
    assert program[1].startswith("state.start(start='")
    assert program[2].startswith("state.convert(fn=")
    assert program[3] == "state.teardown()"


def test_one_rule_for_each_action() -> None:
    """Every kind of action has a rule of its name."""
    rules = vars(empty_machine(SMALL))

    assert [kind for kind in ACTIONS if snake_case(kind) not in rules] == []
