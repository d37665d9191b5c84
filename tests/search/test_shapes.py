"""Shapes: no two values are written alike, and no position is forgotten."""

from typing import Any, get_type_hints

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.search.shapes import (
    KIND_BITS,
    KINDS,
    RECORDED_VERSIONS,
    address,
    plain,
    record_shape,
    shape_of,
    small,
)
from swapmodel.state.autograd import AutogradMeta, Hooks, Node, SavedVariable
from swapmodel.state.holders import Module
from swapmodel.state.ids import ImplId, NodeId, TensorId
from swapmodel.state.optimizers import Optimizer, StateEntry
from swapmodel.state.tensors import Storage, Tensor, TensorImpl
from swapmodel.state.weakrefs import Weakref

RECORDS = (Tensor, TensorImpl, AutogradMeta, Storage, Node, Hooks, Weakref, Module)

VALUES = st.recursive(
    st.none() | st.integers(-300, 40_000) | st.text("abß", max_size=70),
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, min_size=14, max_size=20).map(tuple)
    ),
    max_leaves=30,
)


def written(value: object) -> list[int]:
    """What is written of a value that holds no positions."""
    out: list[int] = []
    plain(value, out, [])
    return out


@given(VALUES, VALUES, VALUES)
def test_the_end_of_a_value_can_be_told(one: Any, other: Any, behind: Any) -> None:
    """No value is written as the beginning of another one."""
    first, second = written(one), written(other)
    longer = second + written(behind)

    assert all(0 <= number < 256 for number in first)
    if one != other:
        assert longer[: len(first)] != first


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, [0]),
        (127, [127]),
        (128, [128, 1]),
        (300, [172, 2]),
        (1 << 14, [128, 128, 1]),
    ],
)
def test_small_numbers(number: int, expected: list[int]) -> None:
    """Seven bits at a time, the lowest first."""
    out: list[int] = []
    small(number, out)

    assert out == expected


def test_what_has_no_place_in_a_key() -> None:
    """A set or a dict in a record would have no order to be written in."""
    with pytest.raises(AssertionError):
        written({"a": 1})
    with pytest.raises(AssertionError):
        shape_of(TensorId | ImplId)
    with pytest.raises(AssertionError):
        shape_of(list[TensorId])


def test_addresses() -> None:
    """A kind and a position, both of which can be read again."""
    for kind in range(len(KINDS)):
        both = address(kind, 5)
        assert (both & ((1 << KIND_BITS) - 1), both >> KIND_BITS) == (kind, 5)


def test_positions_are_found_in_order() -> None:
    """They are not written, but told, with the kind of thing that each is of."""
    out: list[int] = []
    found: list[int] = []
    saved = (SavedVariable(impl=ImplId(7), version=3),)
    node = Node(
        name="n",
        function="f",
        dtype="float32",
        length=2,
        edges=(NodeId(4), None),
        saved=saved,
    )
    record_shape(Node)(node, out, found)

    nodes, impls = KINDS.index(NodeId), KINDS.index(ImplId)
    assert found == [address(nodes, 4), address(impls, 7)]


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_no_field_is_forgotten(kind: type) -> None:
    """Another value of any field is written otherwise, but for recorded versions."""
    hints = get_type_hints(kind)
    shape = record_shape(kind)
    base = {one.name: _value(hints[one.name], 0) for one in attrs.fields(kind)}

    for name in base:
        other = {**base, name: _value(hints[name], 1)}
        recorded = (kind.__name__, name) in RECORDED_VERSIONS
        assert (_whole(shape, kind, base) == _whole(shape, kind, other)) is recorded


def _value(hint: Any, number: int) -> Any:
    """A value of a type; another one for each number."""
    text = str(hint)
    if "SavedVariable" in text:
        return (SavedVariable(impl=ImplId(number), version=0),)
    if hint is bool:
        return bool(number)
    if hint in (int, str):
        return hint(number)
    if "Literal" in text:
        return ("callback", "guard")[number]
    if "tuple" in text and "|" not in text:
        two = ("str, " in text or "'str'" in text) and "tuple[tuple" in text
        return ((("a", number),) if two else (number,)) * (number + 1)
    if "tuple[int" in text:
        return (number,)
    return number


def _whole(shape: Any, kind: Any, fields: dict[str, Any]) -> tuple[Any, ...]:
    out: list[int] = []
    found: list[int] = []
    shape(kind(**fields), out, found)
    return tuple(out), tuple(found)


def test_an_optimizer_is_written_with_its_state() -> None:
    """The parameter of an entry and what it holds are positions too."""
    out: list[int] = []
    found: list[int] = []
    entry = StateEntry(parameter=TensorId(2), tensors=(("step", TensorId(9)),))
    one = Optimizer(kind="Adam", groups=((TensorId(2),),), state=(entry,))
    record_shape(Optimizer)(one, out, found)
    tensors = KINDS.index(TensorId)

    assert found == [address(tensors, one) for one in (2, 2, 9)]
