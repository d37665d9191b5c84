"""Start heaps of every class, over storages, bases and inner tensors."""

from itertools import pairwise
from typing import Any

import pytest

from swapmodel.specfiles.given import heap_from_given
from swapmodel.specfiles.schema import BadInput
from swapmodel.state.build import DEEPEST
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
            "not a part of 2 elements",
        ),
        ({"p": {"over": "q", "offset": -1}, "q": {}}, "not a part of 2 elements"),
        ({"p": {"over": "q", "offset": 2}, "q": {}}, "not a part of 2 elements"),
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


def chain(key: str, levels: int) -> dict[str, object]:
    """Tensors or modules, each within the next one, the outermost first."""
    names = [f"x{number}" for number in range(levels)]
    if key == "children":
        tables = {one: {"children": {"c": two}} for one, two in pairwise(names)}
        return {"modules": {**tables, names[-1]: {}}}
    if key == "inner":
        wrapper = {"class": "TwoTensor"}
        inner = [{**wrapper, "inner": {"a": one, "b": "y"}} for one in names[1:]]
        outer = dict(zip(names, inner, strict=False))
        return {"tensors": {**outer, names[-1]: {}, "y": {}}}
    tensors: dict[str, object] = {one: {key: two} for one, two in pairwise(names)}
    return {"tensors": {**tensors, names[-1]: {}}}


@pytest.mark.parametrize("key", ["children", "inner", "over", "view_of"])
def test_how_deep_things_can_be(key: str) -> None:
    """What torch itself could not walk through is refused in one line."""
    assert heap_from_given(chain(key, DEEPEST), "x")
    with pytest.raises(BadInput) as error:
        heap_from_given(chain(key, DEEPEST * 30), "x")

    assert f"more than {DEEPEST} " in str(error.value)
    assert str(error.value).endswith(", write fewer levels")


def test_a_chain_that_starts_at_its_end() -> None:
    """The order of the tables makes no difference."""
    modules = chain("children", DEEPEST + 1)["modules"]
    assert isinstance(modules, dict)
    turned = dict(reversed(modules.items()))
    with pytest.raises(
        BadInput, match="more than 64 modules within each other @ x:mod"
    ):
        heap_from_given({"modules": turned}, "x")


def test_what_is_shared_at_every_level() -> None:
    """A diamond on a diamond is few tables and very many ways through them."""
    modules = {
        f"x{number}": {"children": dict.fromkeys("ab", f"x{number + 1}")}
        for number in range(20)
    }
    with pytest.raises(BadInput, match="more than 4096 modules within one @ x:modules"):
        heap_from_given({"modules": {**modules, "x20": {}}}, "x")


def test_a_view_of_a_view_is_one_of_its_base() -> None:
    """As in torch; and what is left of a part is its default length."""
    part = {"view_of": "q", "offset": 1}
    heap = read(q={}, v=part, w={"view_of": "v"})
    q, v, w = (at(heap, name) for name in "qvw")

    assert heap.meta_of(w).base == heap.meta_of(v).base == heap.tensor(q).impl
    assert (heap.impl_of(w).offset, heap.impl_of(w).length) == (1, 1)
    with pytest.raises(BadInput, match="not a part of 1 elements @ "):
        read(q={}, v=part, w={"over": "v", "length": 2})
    with pytest.raises(BadInput, match="a wrapper has no memory of its own"):
        read(q={"class": "TwoTensor"}, v={"over": "q"})
