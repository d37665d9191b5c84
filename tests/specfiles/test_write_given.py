"""A start heap is written as tables that give it again."""

import pytest

from swapmodel.actions import Forward, RegisterHook
from swapmodel.run import run
from swapmodel.specfiles.given import heap_from_given
from swapmodel.specfiles.read import load_spec
from swapmodel.specfiles.scopes import load_scope, scope_ids
from swapmodel.specfiles.write_given import given_of
from swapmodel.state.heap import Heap
from tests.specfiles.test_given import MODULES, TENSORS

STARTS = {
    f"{name}/{start}": heap
    for name in scope_ids()
    for start, heap in load_scope(name).starts
}


@pytest.mark.parametrize("heap", STARTS.values(), ids=STARTS)
def test_round_trip(heap: Heap) -> None:
    """Every start of every scope survives, positions included."""
    assert heap_from_given(given_of(heap), "f") == heap


def test_a_heap_with_everything() -> None:
    """Labels are found for what no variable names, and defaults are left out."""
    tables = {"flags": {"overwrite": True}, "tensors": TENSORS, "modules": MODULES}
    heap = heap_from_given(tables, "f")
    written = given_of(heap)

    assert heap_from_given(written, "f").names == heap.names
    assert written["flags"] == {"overwrite": True}
    assert given_of(heap_from_given(written, "f")) == written


def test_what_cannot_be_given() -> None:
    """A graph or a hook is made by a program, not given."""
    start = heap_from_given({"tensors": {"p": {"class": "Parameter"}}}, "f")
    spec = load_spec("torch-2.4")

    for action in (Forward("scale", "p", "y"), RegisterHook("p", "h")):
        with pytest.raises(AssertionError):
            given_of(run(start, (action,), spec).heaps[-1])
