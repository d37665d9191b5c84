"""Promises of functions: `test_functions` compares each with what is made."""

from swapmodel.conversions import ByRole, Cast, Identity, NoTensor, Other, RaiseAt, To
from swapmodel.semantics.payloads import Dense
from swapmodel.semantics.promised import promised

WHOLE, HALVES = Dense("int64", "cpu", 2, (1, 2)), Dense("float16", "cpu", 2, (1, 2))


def test_a_method_filters() -> None:
    """Integers are left alone by `m.double()` and `m.to(...)`."""
    for fn in (Cast("float64"), To("float64"), ByRole(Identity(), Cast("float64"))):
        assert promised(fn, WHOLE, parameter=False) == WHOLE


def test_a_role() -> None:
    """A parameter is promised another thing than all else."""
    fn = RaiseAt(2, Cast("float16"))
    double = Dense("float64", "cpu", 2, (1, 2))

    assert promised(fn, double, parameter=True) == HALVES
    assert (
        promised(ByRole(Cast("float16"), Identity()), double, parameter=True) == HALVES
    )
    assert (
        promised(ByRole(Cast("float16"), Identity()), double, parameter=False) == double
    )


def test_what_a_function_does_not_say() -> None:
    """What stands somewhere else, and no tensor at all, is not for it to say."""
    for fn in (NoTensor(), Other("p")):
        assert promised(fn, WHOLE, parameter=False) is None
