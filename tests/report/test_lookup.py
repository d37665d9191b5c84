"""What is told of a rule, an invariant, a spec and of the difference of two."""

from swapmodel.report.lookup import (
    difference_lines,
    invariant_lines,
    rule_lines,
    spec_lines,
)
from swapmodel.specfiles.read import load_spec
from swapmodel.specfiles.rules import invariants, rules


def test_a_rule() -> None:
    """Its statement, its pull requests and its text, once for equal releases."""
    told = "\n".join(rule_lines(rules()["swap/few-owners"]))

    assert "check_use_count" in told
    assert "pytorch#127313" in told
    assert told.count("Expected use_count of {operand}") == 1
    assert "text under torch-2.4 to torch-2.13, " in told


def test_a_text_that_changed() -> None:
    """Each text is told with the releases that say it."""
    told = [*rule_lines(rules()["swap/no-impl-weakrefs"])]

    assert sum(line.startswith("text under") for line in told) == 2


def test_an_invariant() -> None:
    """Where it is known to be broken, with the scenario."""
    told = "\n".join(invariant_lines(invariants()["use-count"]))

    assert "since [swap_tensors/few-owners]" in told
    assert "specs/scenarios/found/use-count" in told


def test_an_invariant_that_nothing_breaks() -> None:
    """Silence is told as such."""
    told = [*invariant_lines(invariants()["well-formed"])]

    assert told[-1] == "no scope breaks it under any release"


def test_a_spec() -> None:
    """Its releases, its phases in order, the predicates of its choices."""
    told = [*spec_lines(load_spec("torch-2.4"))]

    assert told[0] == "torch-2.4"
    assert any(line.endswith("2.4.1, 2.5.1, 2.6.0") for line in told)
    at = told.index("    swap_tensors")
    assert told[at + 1 : at + 4] == [
        "        no-weakrefs",
        "        same-slots",
        "        few-owners",
    ]
    assert "        swap if swap-flag" in told


def test_a_proposal_names_its_base() -> None:
    """What extends a release says which."""
    told = [*spec_lines(load_spec("no-weakref-check"))]

    assert any(line.split() == ["extends", "torch-2.13"] for line in told)


def test_the_difference_of_two_specs() -> None:
    """Phases alone in the first are marked +, those of the second -."""
    told = [*difference_lines(load_spec("torch-2.4"), load_spec("torch-2.3"))]

    assert "    + few-owners" in told
    assert "    - one-owner" in told
    assert "text of swap/few-owners" in told
    assert "operations set_data" not in told


def test_no_difference() -> None:
    """A spec against itself."""
    one = load_spec("torch-2.4")

    assert [*difference_lines(one, one)] == [
        "torch-2.4 against torch-2.4",
        "no difference",
    ]
