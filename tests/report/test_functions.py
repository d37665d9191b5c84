"""Functions that are written for `_apply`."""

from swapmodel.actions import Convert
from swapmodel.conversions import ByRole, Identity, Other, RaiseAt, Scale, ScaleInPlace
from swapmodel.report.spelling import spelled


def test_lambdas() -> None:
    """They keep the name that people use, unless they read a variable of that name."""
    assert spelled(Convert("t", Identity())) == "t._apply(lambda t: (t))"
    assert spelled(Convert("m", Other("t.a"))) == "m._apply(lambda x: (t.a))"
    assert spelled(Convert("m", Other("tt.a"))) == "m._apply(lambda t: (tt.a))"
    assert spelled(Convert("m", RaiseAt(1, Other("t")))).endswith("lambda x: (t)))")
    both = ByRole(Other("x.a"), Other("t"))
    assert "lambda y: (x.a) if isinstance(y, " in spelled(Convert("m", both))
    assert "x.mul_(3)" in spelled(Convert("m", ByRole(Other("t"), ScaleInPlace())))
    assert "(x * 3)" in spelled(Convert("m", ByRole(Other("t"), Scale())))
