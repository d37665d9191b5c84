"""
What does a write in place leave in memory, and who counts it?
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import broadcast, payloads
from swapmodel.semantics.payloads import Dense, Payload, Wrapped
from swapmodel.state.draft import Draft
from swapmodel.state.ids import TensorId


@frozen
class InPlace:
    """What an operation that writes makes of an element and of the one it is given."""

    function: Callable[[int, int], int]

    alpha: bool = False
    """Whether the one that it is given is scaled by a float first."""


ADD = InPlace(payloads.add)
SUBTRACT = InPlace(payloads.subtract, alpha=True)
"""`t.add_(u, alpha=-1.0)`."""


def write(draft: Draft, t: TensorId, payload: Payload) -> None:
    """
    Write *payload* into *t* in place, as `t.copy_()` does, and count the write.

    A wrapper's handler writes the inner tensors below the layer that counts.
    """
    _write(draft, t, payload)
    draft.bump_version(draft.tensor(t).impl)


def _write(draft: Draft, t: TensorId, payload: Payload) -> None:
    tensor, impl = draft.tensor(t), draft.impl_of(t)
    if isinstance(payload, Wrapped):
        parts = dict(payload.inner)
        for name, one in tensor.inner:
            _write(draft, one, parts[name])
        return
    assert impl.storage is not None
    storage = draft.edit_storage(impl.storage)
    if payload.values is None or storage.values is None:
        storage.values = None
        return
    end = impl.offset + impl.length
    kept_before, kept_after = storage.values[: impl.offset], storage.values[end:]
    storage.values = kept_before + payload.values + kept_after


def add_in_place(
    draft: Draft,
    t: TensorId,
    payload: Payload,
    how: InPlace = ADD,
) -> Stop | None:
    """
    `t.add_(...)`, or in another way; count the write.

    A wrapper adds to each of its inner tensors; a plain tensor to which a wrapper is
    added takes each part in turn.  Refuses what does not fit.
    """
    stop = _add(draft, t, payload, how)
    if stop is None:
        draft.bump_version(draft.tensor(t).impl)
    return stop


def _add(draft: Draft, t: TensorId, payload: Payload, how: InPlace) -> Stop | None:
    before = payloads.beside(draft, t, payload)
    if isinstance(before, Stop):
        return before
    parts = dict(payload.inner) if isinstance(payload, Wrapped) else {}
    if parts and payloads.kind(before) not in ("Tensor", payloads.kind(payload)):
        return Unmodelled("a wrapper's handler meets a wrapper of another class")
    if isinstance(before, Wrapped):
        added = [(one, parts.get(name, payload)) for name, one in draft.tensor(t).inner]
    elif isinstance(payload, Wrapped):
        added = [(t, one) for one in parts.values()]
    else:
        return _add_dense(draft, t, before, payload, how)
    for one, part in added:
        stop = _add(draft, one, part, how)
        if stop is not None:
            return stop
    return None


def _add_dense(
    draft: Draft, t: TensorId, before: Dense, payload: Dense, how: InPlace
) -> Stop | None:
    if before.device != payload.device:
        return Unmodelled("a gradient meets a tensor on another device")
    stop = sizes(before, payload)
    if stop is None and before.device != "meta":
        stop = _dtypes(before, payload, how)
    if stop is not None:
        return stop
    _write(draft, t, broadcast.combine(before, payload, how.function))
    return None


def sizes(before: Dense, payload: Dense) -> Stop | None:
    """What has no common size, or would grow, is refused."""
    clash = broadcast.sizes(before, payload)
    if clash is None and broadcast.together(before, payload) == before.length:
        return None
    if before.device == "meta":
        return broadcast.ON_META
    if clash is not None:
        # [forward/size]
        return Refusal("forward/size", facts=clash)
    # [add/size]
    facts = (("size", payload.length), ("expected", before.length))
    return Refusal("add/size", facts=facts)


def _dtypes(before: Dense, payload: Dense, how: InPlace) -> Refusal | None:
    """Integers take no floats, and floats nothing complex; on `meta` nobody asks."""
    if payloads.sort(payload.dtype) > payloads.sort(before.dtype):
        result = payloads.promote(payload.dtype, before.dtype)
        # [add/dtype]
        return Refusal(
            "add/dtype", facts=(("dtype", result), ("expected", before.dtype))
        )
    if how.alpha and before.dtype in payloads.INTEGERS:
        # [add/alpha]
        return Refusal("add/alpha")
    return None
