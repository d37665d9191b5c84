"""Start heaps of every class, over storages, bases and inner tensors."""

from typing import Any

import pytest

from swapmodel.specfiles.given import heap_from_given
from swapmodel.specfiles.schema import BadInput
from swapmodel.state.heap import Heap
from tests.heaps import at


def read(**tensors: dict[str, Any]) -> Heap:
    """The heap of these tensors alone."""
    return heap_from_given({"tensors": tensors}, "x")


def test_a_tensor_over_another_one() -> None:
    """`over` shares the storage alone, from an offset on; order does not matter."""
    heap = read(p={"over": "q", "offset": 1}, q={"values": [3, 4]})
    p, q = heap.impl_of(at(heap, "p")), heap.impl_of(at(heap, "q"))

    assert (p.storage, p.offset, p.length) == (q.storage, 1, 1)
    assert p.counter != q.counter


def test_a_view() -> None:
    """`view_of` shares the version counter too, and owns its base."""
    heap = read(p={"view_of": "q", "length": 1}, q={"values": [3, 4]})
    p, q = at(heap, "p"), at(heap, "q")

    assert heap.meta_of(p).base == heap.tensor(q).impl
    assert heap.impl_of(p).counter == heap.impl_of(q).counter


def test_given_inner_tensors() -> None:
    """Labels name what a wrapper stands on; they are variables only if they say so."""
    heap = read(
        a={"values": [1, 2], "dtype": "int64"},
        b={"values": [3, 4], "variable": True},
        w={"class": "TwoTensor", "inner": {"a": "a", "b": "b"}},
    )

    assert [name for name, _, _ in heap.names] == ["b", "w"]
    assert at(heap, "w.b") == at(heap, "b")
    assert heap.impl_of(at(heap, "w")).dtype == "int64"


def test_slots() -> None:
    """What is set of the slots is given as attributes are."""
    heap = read(p={"class": "SlottedParameter", "slots": {"y": 2}})

    assert heap.tensor(at(heap, "p")).slots == (("y", 2),)


def test_a_parameter_by_hand() -> None:
    """`parameter` marks a tensor of any class."""
    heap = read(p={"parameter": True})

    assert heap.tensor(at(heap, "p")).is_param


def test_an_uninitialized_parameter_has_no_elements() -> None:
    """Nothing is said of values that are not there yet."""
    heap = read(p={"class": "UninitializedParameter"})

    assert heap.impl_of(at(heap, "p")).length == 0


@pytest.mark.parametrize(
    ("tensors", "what"),
    [
        ({"p": {"over": "p"}}, "a tensor over itself"),
        ({"p": {"over": "q"}, "q": {"view_of": "p"}}, "a tensor over itself"),
        (
            {"p": {"over": "q", "offset": 1, "length": 2}, "q": {}},
            "not a part of two elements",
        ),
        ({"p": {"over": "q", "offset": -1}, "q": {}}, "not a part of two elements"),
        ({"p": {"over": "q", "offset": 2}, "q": {}}, "not a part of two elements"),
        (
            {"p": {"class": "TwoTensor", "inner": {"a": "q"}}, "q": {}},
            "not the inner tensors of a TwoTensor",
        ),
        ({"p": {"inner": {"a": "q"}}, "q": {}}, "not the inner tensors of a Tensor"),
    ],
)
def test_what_cannot_stand(tensors: dict[str, dict[str, Any]], what: str) -> None:
    """A tensor stands on another one, within it, and a wrapper on all of its own."""
    with pytest.raises(BadInput, match=what):
        read(**tensors)
