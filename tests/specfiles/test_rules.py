"""Rules and invariants are entries of files, each id once."""

from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.specfiles.rules import invariants, rules


def test_rules() -> None:
    """Every rule says what it is, and an effect raises nothing."""
    assert rules()["swap/few-owners"].raises == ("RuntimeError",)
    assert rules()["swap/poison"].raises == ()
    assert rules()["swap/no-weakrefs"].source.startswith("https://github.com/pytorch/")
    assert all(name == one.id for name, one in rules().items())


def test_invariants() -> None:
    """The catalogue and the file name the same invariants."""
    assert {one.id for one in INVARIANTS} == set(invariants())
