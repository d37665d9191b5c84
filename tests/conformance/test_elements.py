"""The elements of real tensors."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.conformance.elements import (  # noqa: E402
    elements,
    is_large,
    whole,
    window,
)

pytestmark = pytest.mark.torch


def test_elements_of_any_shape() -> None:
    """In the order in which a tensor has them, which is not that of its memory."""
    assert elements(torch.tensor([[1, 2], [3, 4]]).t()) == [1, 3, 2, 4]
    assert elements(torch.tensor(5)) == [5]


def test_whole() -> None:
    """An integer, or what uninitialised memory holds instead."""
    assert whole(3.0) == 3
    assert whole(float("inf")) == float("inf")


def test_is_large() -> None:
    """What is not within the modulus."""
    assert [is_large([0, 7]), is_large([8]), is_large([-1]), is_large([])] == [
        False,
        True,
        True,
        False,
    ]


def test_window() -> None:
    """The same memory, and a version counter of its own."""
    whole_of_it = torch.tensor([1.0, 2.0, 3.0])
    window(whole_of_it[1:]).add_(1)

    assert elements(whole_of_it) == [1, 3, 4]
    assert whole_of_it._version == 0
