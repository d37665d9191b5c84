"""
What does the function that a conversion applies make of one tensor?
"""

from __future__ import annotations

from swapmodel.actions import Cast, ConversionFn
from swapmodel.outcomes import Stop
from swapmodel.semantics import methods, payloads, tensors
from swapmodel.semantics.payloads import Dense, Wrapped
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.ids import TensorId


def call(draft: Draft, fn: ConversionFn, t: TensorId) -> TensorId | Stop:
    """Apply *fn* to *t*, under `no_grad`."""
    if tensor_class(draft.tensor(t).cls).fake:
        return methods.FAKE
    return methods.returned(draft, t, _call(draft, fn, t), grad_mode=False)


def _call(draft: Draft, fn: ConversionFn, t: TensorId) -> TensorId | Stop:
    match fn:
        case Cast(dtype):
            return cast(draft, t, dtype)


def cast(draft: Draft, t: TensorId, dtype: str) -> TensorId | Stop:
    """
    `t.to(dtype)`: *t* itself if its own dtype is that one, else a copy.

    A wrapper is asked for its own dtype, not for those of its inner tensors.
    """
    if draft.impl_of(t).dtype == dtype:
        return t
    payload = payloads.read(draft, t)
    if not isinstance(payload, Dense | Wrapped):
        return payload
    return tensors.make(draft, payloads.cast(payload, dtype))
