"""Drafts: written in place, while the heap that they come from stays."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.actions import RegisterHook, TakeWeakref, View
from swapmodel.state.autograd import AutogradMeta, Node
from swapmodel.state.draft import Draft
from swapmodel.state.heap import COLUMNS, Heap, living
from swapmodel.state.holders import Module
from swapmodel.state.ids import CounterId, ImplId, TensorId
from swapmodel.state.record import field_names, thaw, writable
from swapmodel.state.tensors import Storage, Tensor, TensorImpl
from swapmodel.state.weakrefs import Weakref
from tests.heaps import at, done, module

HEAP = done(
    module(),
    View("p", "v"),
    RegisterHook("p", "h"),
    TakeWeakref("ReferenceType", "p", "r"),
)

EDITS = {
    "tensor": "tensors",
    "impl": "impls",
    "meta": "metas",
    "storage": "storages",
    "node": "nodes",
    "hooks": "hooks",
    "weakref": "weakrefs",
    "module": "modules",
}

every_edit = pytest.mark.parametrize(("edit", "column"), EDITS.items())


def edited(draft: Draft, edit: str, position: int) -> Any:
    """The record at a position, for writing."""
    return getattr(draft, f"edit_{edit}")(position)


@every_edit
def test_a_record_is_copied_when_it_is_first_written(edit: str, column: str) -> None:
    """The second edit gives the twin of the first; reading sees it as well."""
    draft = Draft(HEAP)
    one = edited(draft, edit, 0)

    assert type(one) is writable(type(getattr(HEAP, column)[0]))
    assert edited(draft, edit, 0) is one
    assert getattr(draft, column)[0] is one


@every_edit
def test_writing_leaves_the_heap(edit: str, column: str) -> None:
    """What a draft writes is not in the heap that it was made from."""
    was = getattr(HEAP, column)
    draft = Draft(HEAP)
    name = field_names(type(was[0]))[0]

    setattr(edited(draft, edit, 0), name, "written")

    assert getattr(was[0], name) != "written"
    assert getattr(HEAP, column) is was
    assert getattr(getattr(draft.frozen(), column)[0], name) == "written"


@pytest.mark.parametrize("ended", ["frozen", "sealed"])
def test_an_untouched_draft(ended: str) -> None:
    """A draft that nothing wrote is the heap again, record by record."""
    heap: Heap = getattr(Draft(HEAP), ended)()

    assert heap == HEAP
    for column in COLUMNS:
        pairs = zip(getattr(HEAP, column), getattr(heap, column), strict=True)
        assert all(one is other for one, other in pairs)


@every_edit
def test_a_frozen_copy_stays(edit: str, column: str) -> None:
    """A draft goes on being written after a copy was taken."""
    draft = Draft(HEAP)
    one = edited(draft, edit, 0)
    copy = draft.frozen()

    setattr(one, field_names(type(getattr(HEAP, column)[0]))[0], "written")

    assert copy == HEAP
    assert draft.frozen() != HEAP


@every_edit
def test_a_sealed_draft_cannot_be_written_through(edit: str, column: str) -> None:
    """Whoever kept a record of a sealed draft cannot write it any more."""
    draft = Draft(HEAP)
    one = edited(draft, edit, 0)
    heap = draft.sealed()

    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(one, field_names(type(one))[0], "written")
    edited(draft, edit, 0)
    getattr(draft, column).clear()
    assert heap == HEAP


def test_adding() -> None:
    """What is added gets the next position, frozen or writable."""
    draft = Draft(Heap())
    counter = draft.add_counter()
    storage = draft.add_storage(Storage(values=(1, 2)))
    impl = TensorImpl(
        storage=storage, pyobj=TensorId(0), counter=counter, dtype="float32"
    )
    meta = AutogradMeta(requires_grad=True)
    i = draft.add_impl(impl, meta)
    t = draft.add_tensor(writable(Tensor)(cls="Tensor", impl=i))
    node = Node(name="MulBackward0", function="scale", dtype="float32", length=2)
    ref = Weakref(keeper="ReferenceType", tensor=t)
    positions = (
        draft.add_node(node),
        draft.add_hooks(),
        draft.add_weakref(ref),
        draft.add_module(Module(cls="Linear")),
    )
    heap = draft.sealed()

    assert positions == (0, 0, 0, 0)
    assert ((impl,), (meta,)) == (heap.impls, heap.metas)
    assert (Tensor(cls="Tensor", impl=i),) == heap.tensors
    assert ((node,), (ref,)) == (heap.nodes, heap.weakrefs)
    assert (Module(cls="Linear"),) == heap.modules
    assert (heap.counters, heap.hooks[0].entries) == ((0,), ())


def test_added_records_freeze_and_seal() -> None:
    """A record that was added writable is frozen like one that was thawed."""
    draft = Draft(Heap())
    one = thaw(Storage(values=(1,)))
    s = draft.add_storage(one)
    copy = draft.frozen()
    draft.edit_storage(s).values = (2,)

    assert draft.edit_storage(s) is one
    assert (Storage(values=(1,)),) == copy.storages
    assert (Storage(values=(2,)),) == draft.sealed().storages


def test_released_positions_are_kept() -> None:
    """A position that was emptied stays, so that the others keep theirs."""
    draft = Draft(HEAP)
    t = at(HEAP, "t")
    draft.edit_tensor(t)
    draft.tensors[t] = None  # type: ignore[call-overload]
    heap = draft.sealed()

    assert heap.tensors[t] is None
    assert len(HEAP.tensors) - 1 == len(list(living(heap.tensors)))


def test_a_write_is_counted() -> None:
    """A write in place moves the counter, which aliases of the impl share."""
    draft = Draft(HEAP)
    p, v = at(HEAP, "p"), at(HEAP, "v")
    draft.bump_version(HEAP.tensor(v).impl)

    assert draft.version(draft.impl_of(p).counter) == 1
    assert HEAP.version(CounterId(HEAP.impl(ImplId(HEAP.tensor(p).impl)).counter)) == 0


@given(
    program=st.lists(
        st.tuples(st.sampled_from("abcd"), st.none() | st.integers(0, 3)), max_size=12
    )
)
def test_variables(program: list[tuple[str, int | None]]) -> None:
    """Variables behave as a dict and are listed by name, whatever the order."""
    draft, model = Draft(Heap()), dict[str, int]()
    for name, position in program:
        if position is None:
            draft.unbind(name)
            model.pop(name, None)
        else:
            draft.bind(name, "tensor", position)
            model[name] = position

    assert draft.names == tuple(
        (name, "tensor", position) for name, position in sorted(model.items())
    )
