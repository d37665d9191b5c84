"""
What does a step of Adam make, count and refuse?

What it computes is undefined; its references, dtypes and counters are not.
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import broadcast, methods, payloads, tensors, writes
from swapmodel.semantics.methods import lazy
from swapmodel.semantics.optimizer_state import (
    OTHER_FORM,
    entry_of,
    fits,
    keep,
)
from swapmodel.semantics.payloads import COMPLEX, INTEGERS, Dense, Payload, Wrapped
from swapmodel.state.draft import Draft
from swapmodel.state.ids import OptimizerId, TensorId

AVERAGES = ("exp_avg", "exp_avg_sq")


def adam(draft: Draft, o: OptimizerId, graded: list[TensorId]) -> Stop | None:
    """
    Make what is missing for all, then update one after the other.

    A counter has counted when the averages refuse a gradient of another dtype.
    Source: `torch.optim.adam`.
    """
    for t in graded:
        stop = _made_for(draft, o, t)
        if stop is not None:
            return stop
    for t in graded:
        stop = _adam_of(draft, o, t)
        if stop is not None:
            return stop
    return None


def _made_for(draft: Draft, o: OptimizerId, t: TensorId) -> Stop | None:
    """
    Make the counter and the averages of a parameter that has no state.

    The counter stays when the averages cannot be made, and they are missed later on.
    """
    refusal = lazy(draft, t)
    if refusal is not None:
        return refusal
    held = dict(entry_of(draft, o, t))
    if not held:
        held["step"] = tensors.make(draft, Dense("float32", "cpu", 1, (0,)))
        keep(draft, o, t, tuple(held.items()))
        for name in AVERAGES:
            made = _zeros(draft, t)
            if isinstance(made, Stop):
                return made
            held[name] = made
            keep(draft, o, t, tuple(held.items()))
    if AVERAGES[0] not in held:
        # [optimizer/state-missing]
        return Refusal("optimizer/state-missing", AVERAGES[0])
    return None


def _zeros(draft: Draft, t: TensorId) -> TensorId | Stop:
    """`torch.zeros_like(t)`, of the class that *t* gives it."""
    payload = payloads.outline(draft, t)
    if isinstance(payload, Stop):
        return payload
    zeros = payloads.apply(payloads.ones(payload), lambda one: 0)
    return methods.returned(draft, t, tensors.make(draft, zeros), grad_mode=False)


def _adam_of(draft: Draft, o: OptimizerId, t: TensorId) -> Stop | None:
    """Count, look at what there is, and write."""
    entry, gradient = dict(entry_of(draft, o, t)), draft.grad_of(t)
    assert gradient is not None
    count = payloads.read(draft, entry["step"])
    assert not isinstance(count, Stop), "nothing but a step writes a counter"
    if lazy(draft, entry["exp_avg_sq"]):
        return Unmodelled("a state that is not what Adam made")
    writes.write(draft, entry["step"], payloads.apply(count, lambda one: one + 1))
    refusal = lazy(draft, entry["exp_avg"], gradient)
    if refusal is not None:
        return refusal
    update = payloads.read(draft, gradient)
    average = payloads.read(draft, entry["exp_avg"])
    if isinstance(update, Stop):
        return update
    if isinstance(average, Stop):
        return average
    stop = _lerp(average, update)
    if stop is not None:
        return stop
    return _update(draft, (entry["exp_avg"], entry["exp_avg_sq"], t), update)


def _lerp(average: Payload, update: Payload) -> Stop | None:
    """What `average.lerp_(update, ...)` refuses, at the first pair that it meets."""
    stops = [_lerp_of(*pair) for pair in broadcast.pairs(average, update)]
    if stops[0] is not None or not any(stops):
        return stops[0]
    return OTHER_FORM


def _lerp_of(one: Dense, other: Dense) -> Stop | None:
    if one.device != other.device or one.dtype in COMPLEX:
        return OTHER_FORM
    if one.dtype != other.dtype:
        # [optimizer/state-dtype] What was made before a cast is not cast.
        facts = (("dtype", other.dtype), ("expected", one.dtype))
        return Refusal("optimizer/state-dtype", facts=facts)
    stop = writes.sizes(one, other)
    if stop is None and one.dtype in INTEGERS and one.device != "meta":
        # [optimizer/integers]
        return Refusal("optimizer/integers", facts=(("dtype", one.dtype),))
    return stop


def _update(
    draft: Draft, written: tuple[TensorId, ...], update: Payload
) -> Stop | None:
    """Write both averages and the parameter, each from the one before."""
    source = update
    for one, times in zip(written, (1, 2, 1), strict=True):
        payload = payloads.read(draft, one)
        if isinstance(payload, Stop):
            return payload
        if not fits(payload, source):
            return OTHER_FORM
        source = payload
        for _ in range(times):
            writes.write(draft, one, _undefined(payload))
    return None


def _undefined(payload: Payload) -> Payload:
    if isinstance(payload, Wrapped):
        inner = tuple((name, _undefined(one)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    return Dense(payload.dtype, payload.device, payload.length, None)
