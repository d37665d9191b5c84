"""
How is a weak reference taken, and what does it hand out?
"""

from __future__ import annotations

from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Columns, living
from swapmodel.state.ids import TensorId, WeakrefId
from swapmodel.state.keepers import KEEPERS, PYTHON_TYPES, Keeper, WeakrefType
from swapmodel.state.weakrefs import Noted, Weakref, type_of


def take(draft: Draft, keeper: Keeper, t: TensorId, label: str = "") -> WeakrefId:
    """Keep a weak reference of *t* or of its impl; a callback reports *label*."""
    promise, i = KEEPERS[keeper], draft.tensor(t).impl
    of_object = promise.type in PYTHON_TYPES
    return draft.add_weakref(
        Weakref(
            keeper=keeper,
            tensor=t if of_object else None,
            impl=None if of_object else i,
            label=label if promise.calls_back else "",
            noted=metadata(draft, t) if promise.notes else (),
            ghost_tensor=t,
            ghost_impl=i,
        )
    )


# -- What is handed out --------------------------------------------------------------


def yielded(state: Columns, ref: Weakref) -> TensorId | None:
    """The tensor that a weak reference gives: of an impl, the object that it has."""
    return ref.tensor if ref.impl is None else state.impl(ref.impl).pyobj


def metadata(state: Columns, t: TensorId) -> Noted:
    """What can be noted of a tensor without holding it."""
    impl = state.impl_of(t)
    return state.tensor(t).cls, impl.dtype, impl.length, requires_grad(state, t)


def passes(state: Columns, ref: Weakref) -> bool:
    """Whether the tensor is alive and reads as it was noted: what a guard asks."""
    return ref.tensor is not None and metadata(state, ref.tensor) == ref.noted


def python_types(state: Columns, t: TensorId) -> list[WeakrefType]:
    """
    The types of `weakref.getweakrefs(t)`, sorted.

    A plain reference without a callback is made once and given out again.
    """
    kept = [ref for _, ref in living(state.weakrefs) if ref.tensor == t]
    shared = {type_of(ref) for ref in kept if KEEPERS[ref.keeper].shared}
    own = [type_of(ref) for ref in kept if not KEEPERS[ref.keeper].shared]
    return sorted([*shared, *own])
