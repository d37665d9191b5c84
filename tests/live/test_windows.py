"""Memory, told with few elements."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from swapmodel.conformance.sources import CLASSES  # noqa: E402
from swapmodel.live.reasons import NotLifted  # noqa: E402
from swapmodel.live.windows import (  # noqa: E402
    Piece,
    Window,
    is_wrapper,
    memory_of,
)

pytestmark = pytest.mark.torch


def memory(*tensors: Any) -> Any:
    """The memory of tensors that stand at `t0`, `t1` and so on."""
    return memory_of([(f"t{number}", t) for number, t in enumerate(tensors)])


def test_none_one_many() -> None:
    """A tensor that shares nothing has no element, one, or two for all of them."""
    found = memory(torch.ones(0), torch.ones(()), torch.ones(3, 4))

    assert [one.length for one in found.windows] == [0, 1, 2]
    assert found.storages == ((), (Piece(1, 0, 1),), (Piece(2, 0, 1), Piece(2, 1, 11)))


def test_shared() -> None:
    """A storage is cut where a window begins or ends."""
    whole = torch.arange(10)
    found = memory(whole[2:9], whole[4:5], whole[9:])

    assert found.windows == (Window(0, 2, 5), Window(0, 4, 1), Window(0, 7, 1))
    assert found.storages == (
        (
            Piece(None, 0, 1),
            Piece(None, 1, 1),
            Piece(0, 0, 1),
            Piece(0, 1, 1),
            Piece(0, 2, 1),
            Piece(0, 3, 1),
            Piece(0, 4, 3),
            Piece(2, 0, 1),
        ),
    )


def test_any_order() -> None:
    """A tensor alone may run through its memory in any order."""
    assert memory(torch.ones(3, 4).t()).windows == (Window(0, 0, 2),)


def test_null_storage() -> None:
    """A wrapper covers nothing itself."""
    wrapper = CLASSES["TwoTensor"](torch.ones(2), torch.ones(2))

    assert is_wrapper(wrapper)
    assert not is_wrapper(wrapper.a)
    assert memory(wrapper).windows == (None,)


@pytest.mark.parametrize(
    "t",
    [
        torch.ones(1).expand(3),
        torch.ones(4)[::2],
        torch.ones(9).as_strided((3, 3), (2, 2)),
    ],
    ids=["expanded", "every second", "overlapping"],
)
def test_not_dense(t: Any) -> None:
    """Elements that overlap or lie apart are declined."""
    with pytest.raises(NotLifted, match=r"overlap or lie apart @ t0"):
        memory(t)


def test_two_orders() -> None:
    """So is a storage that two tensors run through in different orders."""
    t = torch.ones(3, 4)

    with pytest.raises(NotLifted, match=r"two orders @ t1"):
        memory(t, t.t())
