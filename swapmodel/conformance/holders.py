"""
What do the weak references and the optimizers of a heap hand out?
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from swapmodel.conformance.survey import Survey
from swapmodel.semantics import weakrefs
from swapmodel.semantics.places import optimizer_keys
from swapmodel.state.heap import Columns
from swapmodel.state.ids import OptimizerId, WeakrefId
from swapmodel.state.keepers import KEEPERS
from swapmodel.state.weakrefs import Weakref

WeakrefRow: TypeAlias = tuple[str, str, int | None, tuple[Any, ...]]
"""
A variable, its keeper and the place of what it yields.  Then what it noted and whether
that still holds, and which places a look-up finds: Python's own containers raise there.
"""

NOWHERE = -1
"""The number of what is alive and stands at no place, or of a null storage."""


def weakref_rows(heap: Columns, found: Survey) -> Iterator[WeakrefRow]:
    """Tell of every variable that holds a weak reference."""
    for name, kind, position in heap.names:
        if kind != "weakref":
            continue
        ref = heap.weakref(WeakrefId(position))
        if ref.impl is not None:
            yield name, ref.keeper, NOWHERE, ()
            continue
        t, place = ref.tensor, None
        if t is not None:
            place = found.first.get(t, NOWHERE)
        yield name, ref.keeper, place, tuple(_handed_out(heap, ref, place))


def _handed_out(heap: Columns, ref: Weakref, place: int | None) -> Iterator[Any]:
    promise, t = KEEPERS[ref.keeper], ref.tensor
    if promise.notes:
        yield ref.noted, weakrefs.passes(heap, ref)
    if not promise.asked or t is None or place == NOWHERE:
        return
    impl = heap.impl_of(t)
    if promise.asked == "identity":
        yield place, True
    elif impl.storage is not None and impl.length and impl.device != "meta":
        yield place, True if impl.length == 1 else "ambiguous"


def optimizer_row(heap: Columns, o: OptimizerId) -> Iterator[Any]:
    """Tell an optimizer's class, and what it keeps for which of its parameters."""
    optimizer = heap.optimizer(o)
    yield optimizer.kind.partition("-")[0]
    if len(optimizer.groups) > 1:
        yield len(optimizer.groups)
    keys = optimizer_keys(optimizer)
    for entry in optimizer.state:
        yield keys[entry.parameter], tuple([name for name, _ in entry.tensors])
