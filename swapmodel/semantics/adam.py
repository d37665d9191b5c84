"""
What does a step of Adam make, count and refuse?

What it computes is undefined; its references, dtypes and counters are not.
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import payloads, tensors
from swapmodel.semantics.optimizer_state import (
    OTHER_FORM,
    entry_of,
    fits,
    gradient_of,
    keep,
)
from swapmodel.semantics.payloads import Dense, Payload, Wrapped
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
    held = dict(entry_of(draft, o, t))
    if not held:
        held["step"] = tensors.make(draft, Dense("float32", "cpu", 1, (0,)))
        keep(draft, o, t, tuple(held.items()))
        payload = payloads.outline(draft, t)
        if isinstance(payload, Stop):
            return payload
        zeros = payloads.apply(payloads.ones(payload), lambda one: 0)
        held.update({name: tensors.make(draft, zeros) for name in AVERAGES})
        keep(draft, o, t, tuple(held.items()))
    if AVERAGES[0] not in held:
        # [optimizer/state-missing]
        return Refusal("optimizer/state-missing", AVERAGES[0])
    return None


def _adam_of(draft: Draft, o: OptimizerId, t: TensorId) -> Stop | None:
    """Count, look at what there is, and write."""
    entry = dict(entry_of(draft, o, t))
    count = payloads.read(draft, entry["step"])
    if isinstance(count, Stop):
        return count
    if isinstance(count, Wrapped) or (count.device, count.length) != ("cpu", 1):
        return Unmodelled("a counter of steps that is no single number")
    tensors.write(draft, entry["step"], payloads.apply(count, lambda one: one + 1))
    gradient = gradient_of(draft, t)
    average = payloads.read(draft, entry["exp_avg"])
    if isinstance(gradient, Stop):
        return gradient
    if isinstance(average, Stop):
        return average
    if isinstance(average, Dense) and isinstance(gradient, Dense):
        if average.dtype != gradient.dtype:
            # [optimizer/state-dtype] What was made before a cast is not cast.
            facts = (("dtype", gradient.dtype), ("expected", average.dtype))
            return Refusal("optimizer/state-dtype", facts=facts)
    elif _dtypes(average) != _dtypes(gradient):
        return OTHER_FORM
    return _update(draft, (entry["exp_avg"], entry["exp_avg_sq"], t), gradient)


def _update(
    draft: Draft, written: tuple[TensorId, ...], gradient: Payload
) -> Stop | None:
    """Write both averages and the parameter, each from the one before."""
    source = gradient
    for one, writes in zip(written, (1, 2, 1), strict=True):
        payload = payloads.read(draft, one)
        if isinstance(payload, Stop):
            return payload
        if not fits(payload, source):
            return OTHER_FORM
        source = payload
        for _ in range(writes):
            tensors.write(draft, one, _undefined(payload))
    return None


def _dtypes(payload: Payload) -> list[str]:
    return [one.dtype for one in payloads.dense(payload)]


def _undefined(payload: Payload) -> Payload:
    if isinstance(payload, Wrapped):
        inner = tuple((name, _undefined(one)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    return Dense(payload.dtype, payload.device, payload.length, None)
