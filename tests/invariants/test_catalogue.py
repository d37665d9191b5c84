"""The catalogue: each invariant has a program that breaks it, where one can."""

import tomllib

import pytest

from swapmodel.invariants.catalogue import INVARIANTS, invariant
from swapmodel.specfiles.files import specs_folder
from tests.invariants.examples import Example, violations
from tests.invariants.examples_of_contents import CONTENTS
from tests.invariants.examples_of_futures import FUTURES

EXAMPLES = (*CONTENTS, *FUTURES)

BY_HAND = {"use-count", "well-formed"}
"""What no program breaks: the model would be wrong."""


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_examples(example: Example) -> None:
    """An invariant is broken where the example says, and nowhere else."""
    found = violations(
        example.invariant, example.start, *example.program, under=example.under
    )

    assert tuple((one.place, one.path) for one in found) == example.shown
    assert {one.invariant for one in found} <= {example.invariant}


def test_both_verdicts() -> None:
    """Every invariant holds somewhere, and is broken somewhere or by hand."""
    names = {one.id for one in INVARIANTS}

    assert {one.invariant for one in EXAMPLES if not one.shown} == names
    assert {one.invariant for one in EXAMPLES if one.shown} == names - BY_HAND


def test_violations_say_something() -> None:
    """A violation names what was promised and what is there, which differ."""
    for example in EXAMPLES:
        for one in violations(
            example.invariant, example.start, *example.program, under=example.under
        ):
            assert one.was
            assert one.now
            assert one.was != one.now


def test_found_by_id() -> None:
    """An invariant is known under its id, once; another name is an error."""
    assert [invariant(one.id) for one in INVARIANTS] == list(INVARIANTS)
    assert len({one.id for one in INVARIANTS}) == len(INVARIANTS)
    with pytest.raises(KeyError):
        invariant("no-such-invariant")


def test_every_invariant_is_described() -> None:
    """The catalogue and `invariants.toml` list the same ids."""
    text = (specs_folder() / "invariants.toml").read_text(encoding="utf-8")
    described = [one["id"] for one in tomllib.loads(text)["invariant"]]

    assert sorted(described) == sorted(one.id for one in INVARIANTS)
