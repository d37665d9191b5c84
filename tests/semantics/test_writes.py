"""Writes in place: what they leave in memory, and who counts them."""

import pytest

from swapmodel.actions import View
from swapmodel.semantics import writes
from swapmodel.semantics.payloads import Dense, Wrapped, read
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from tests.heaps import at, done, module, with_row


def test_a_write_is_seen_and_counted() -> None:
    """A write in place shows in every alias and moves the shared counter."""
    heap = done(module(), View("t", "v"))
    draft = Draft(heap)
    t, v = at(heap, "t"), at(heap, "v")
    writes.write(draft, t, Dense("float32", "cpu", 2, (0, 7)))

    assert read(draft, v) == Dense("float32", "cpu", 2, (0, 7))
    assert draft.version(draft.impl_of(v).counter) == 1


def test_a_write_to_a_part() -> None:
    """A write touches what the tensor covers and nothing beside it."""
    heap = module()
    heap = with_row(heap, "impls", heap.tensor(at(heap, "t")).impl, offset=1, length=1)
    draft = Draft(heap)
    writes.write(draft, at(heap, "t"), Dense("float32", "cpu", 1, (0,)))

    assert draft.storages[-1].values == (5, 0)


@pytest.mark.parametrize("undefined", ["written", "there"])
def test_undefined_values_spread(undefined: str) -> None:
    """A storage of which a part is undefined is undefined."""
    heap = module()
    s = heap.impl_of(at(heap, "t")).storage
    assert s is not None
    draft = Draft(heap)
    if undefined == "there":
        draft.edit_storage(s).values = None
    values = (1, 2) if undefined == "there" else None
    writes.write(draft, at(heap, "t"), Dense("float32", "cpu", 2, values))

    assert draft.storage(s).values is None


def test_a_write_to_a_wrapper() -> None:
    """The inner tensors are written below the layer that counts writes."""
    heap = module("TwoTensor")
    draft = Draft(heap)
    p = at(heap, "p")
    payload = Wrapped(
        "TwoTensor",
        (("a", Dense("float32", "cpu", 2, (0, 1))), ("b", read_inner(heap, "p.b"))),
    )
    writes.write(draft, p, payload)

    assert read(draft, p) == payload
    assert draft.version(draft.impl_of(p).counter) == 1
    assert {
        draft.version(draft.impl_of(t).counter)
        for t in (at(heap, "p.a"), at(heap, "p.b"))
    } == {0}


def read_inner(heap: Heap, place: str) -> Dense:
    """What a plain tensor holds."""
    payload = read(heap, at(heap, place))
    assert isinstance(payload, Dense)
    return payload
