"""
How is a weak reference taken?
"""

from __future__ import annotations

from swapmodel.state.draft import Draft
from swapmodel.state.heap import living
from swapmodel.state.ids import TensorId, WeakrefId
from swapmodel.state.weakrefs import PYTHON_TYPES, Weakref, WeakrefType


def take(draft: Draft, kind: WeakrefType, t: TensorId) -> WeakrefId:
    """`weakref.ref(t)`, one and the same as long as it lives; or one of the impl."""
    if kind not in PYTHON_TYPES:
        return draft.add_weakref(Weakref(type=kind, impl=draft.tensor(t).impl))
    for position, ref in living(draft.weakrefs):
        if ref.tensor == t and ref.type == kind:
            return WeakrefId(position)
    return draft.add_weakref(Weakref(type=kind, tensor=t, ghost_tensor=t))
