"""Heaps: one column for each kind of thing, read by position."""

from typing import Any, get_origin, get_type_hints

import attrs
import pytest

from swapmodel.actions import Drop, MakeOptimizer, TakeWeakref, View
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.heap import COLUMNS, Columns, Heap, living
from swapmodel.state.holders import Flags
from swapmodel.state.ids import ImplId, TensorId
from tests.heaps import at, done, module

READERS = {
    "tensor": "tensors",
    "impl": "impls",
    "meta": "metas",
    "storage": "storages",
    "version": "counters",
    "node": "nodes",
    "hooks_at": "hooks",
    "weakref": "weakrefs",
    "module": "modules",
    "optimizer": "optimizers",
}

HEAP = done(
    module(),
    View("p", "v"),
    TakeWeakref("ReferenceType", "p", "r"),
    MakeOptimizer("SGD", "m", "o"),
)


def test_columns_are_the_tuples_of_things() -> None:
    """`COLUMNS` names every field of a heap but its variables and flags."""
    fields = [one.name for one in attrs.fields(Heap)]

    assert [*COLUMNS, "names", "flags"] == fields


def test_a_draft_has_the_columns_of_a_heap() -> None:
    """Each column of a heap is a list in a draft."""
    hints = get_type_hints(Draft)

    assert set(COLUMNS) == {name for name in hints if get_origin(hints[name]) is list}


@pytest.mark.parametrize(("reader", "column"), READERS.items())
@pytest.mark.parametrize("made", [Heap, Draft])
def test_reading_by_position(made: type, reader: str, column: str) -> None:
    """A heap and its draft are read by the same methods, with the same answers."""
    state: Columns = HEAP if made is Heap else Draft(HEAP)

    for position, one in living(getattr(HEAP, column)):
        assert one == getattr(state, reader)(position)


def test_every_column_has_a_reader() -> None:
    """No column is read past the reading methods."""
    assert set(COLUMNS) == set(READERS.values())


def test_the_impl_of_a_tensor() -> None:
    """What a tensor stands for is found through it, after a swap as well."""
    heap = HEAP
    t = at(heap, "p")
    i = heap.tensor(t).impl

    assert heap.impls[i] == heap.impl_of(t)
    assert heap.metas[i] == heap.meta_of(t)


def test_the_gradient_of_a_tensor() -> None:
    """`t.grad` is the Python object of the impl that is owned."""
    build = Builder()
    w, g = build.parameter(), build.tensor()
    build.gradient(w, g)
    heap = build.heap()

    assert heap.grad_of(w) == g
    assert heap.grad_of(g) is None


def test_released_positions_are_skipped() -> None:
    """What is released is skipped; a version counter at zero is alive."""
    assert list(living((0, None, 3))) == [(0, 0), (2, 3)]


def test_a_released_tensor_cannot_be_read() -> None:
    """Reading what was released is an error of the model and fails."""
    t = at(module(), "t")
    heap = done(module(), Drop("t"))

    assert heap.tensors[t] is None
    with pytest.raises(AttributeError):
        heap.impl_of(t)


def test_heaps_are_values() -> None:
    """Two heaps made alike are equal and hash alike; a position apart they differ."""
    one, other = module(), module()
    reordered = attrs.evolve(one, names=one.names[::-1])

    assert one == other
    assert hash(one) == hash(other)
    assert one != reordered


@pytest.mark.parametrize("name", ["tensors", "names", "flags"])
def test_a_heap_cannot_be_written(name: str) -> None:
    """Nothing of a heap can be replaced."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(module(), name, ())


def test_an_empty_heap() -> None:
    """A heap of nothing has torch's own settings of the flags."""
    empty: Any = Heap()

    assert Flags(swap=False, overwrite=False) == empty.flags
    assert all(getattr(empty, column) == () for column in COLUMNS)


def test_positions_are_of_their_own_kind() -> None:
    """Metadata stands at the position of its impl, and an impl knows its object."""
    for i, impl in living(HEAP.impls):
        assert HEAP.metas[i] is not None
        assert HEAP.tensor(impl.pyobj).impl == ImplId(i)
    assert TensorId(0) == HEAP.impl(HEAP.tensor(TensorId(0)).impl).pyobj
