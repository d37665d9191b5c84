"""Why something is not lifted."""

import pytest

pytest.importorskip("torch")

from swapmodel.live.reasons import NotLifted

pytestmark = pytest.mark.torch


def test_says_what_and_where() -> None:
    """The reason first, then the place if there is one."""
    assert str(NotLifted("a script module", "m.a")) == "a script module @ m.a"
    assert str(NotLifted("a script module")) == "a script module"


def test_is_raised() -> None:
    """And caught with both parts."""
    with pytest.raises(NotLifted) as caught:
        raise NotLifted("a FakeTensor", "m.weight")

    assert (caught.value.why, caught.value.place) == ("a FakeTensor", "m.weight")
