"""
What does a tensor hold, and what do the functions of the algebra make of it?

Values are small integers modulo 8, exact in every dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from swapmodel.outcomes import Crash, Refusal, Stop, Unmodelled
from swapmodel.state.classes import tensor_class
from swapmodel.state.dtypes import COMPLEX as COMPLEX
from swapmodel.state.dtypes import DIFFERENTIABLE as DIFFERENTIABLE
from swapmodel.state.dtypes import FLOATING as FLOATING
from swapmodel.state.dtypes import INTEGERS as INTEGERS
from swapmodel.state.heap import Columns
from swapmodel.state.ids import TensorId

MODULUS = 8

SCALE = 3
"""The constant of `scale`; odd, so that no value is lost modulo 8."""

Values: TypeAlias = tuple[int, ...] | None
"""The elements, or `None` where nobody can say."""


@frozen
class Dense:
    """What a tensor without inner tensors holds."""

    dtype: str
    device: str
    length: int
    values: Values


@frozen
class Wrapped:
    """What a wrapper holds: a payload per inner tensor."""

    cls: str
    inner: tuple[tuple[str, Payload], ...]


Payload: TypeAlias = Dense | Wrapped


def read(state: Columns, t: TensorId) -> Payload | Stop:
    """
    Read what *t* holds, as an operation that computes with it does.

    Refuses an intercepted tensor whose class intercepts nothing, and crashes on a
    null storage that no class stands in front of.
    """
    return _read(state, t, looks=True)


def outline(state: Columns, t: TensorId) -> Payload | Stop:
    """
    What *t* is to an operation that only asks for its form: `detach`, `ones_like`.

    As `read`, but a null storage crashes nothing that does not look into it.
    """
    return _read(state, t, looks=False)


def beside(state: Columns, t: TensorId, other: Payload | Stop) -> Payload | Stop:
    """
    Read what *t* is to an operation whose other operand is *other*.

    A wrapper's handler takes apart whatever has its class.  A swap that stopped
    half-way leaves a plain tensor with class and inner tensors of a wrapper.
    """
    if isinstance(other, Stop):
        return other
    handler = other.cls if isinstance(other, Wrapped) else None
    return _read(state, t, looks=True, handler=handler)


def _read(
    state: Columns,
    t: TensorId,
    *,
    looks: bool,
    inside: tuple[TensorId, ...] = (),
    handler: str | None = None,
) -> Payload | Stop:
    tensor, impl = state.tensor(t), state.impl_of(t)
    if impl.python_key or tensor.cls == handler:
        if t in inside:
            # A swap with an inner tensor makes one; torch raises as its stack ends.
            return Unmodelled("a wrapper that holds itself")
        if not tensor_class(tensor.cls).inner:
            # [dispatch/no-handler]
            return Refusal("dispatch/no-handler")
        inner: list[tuple[str, Payload]] = []
        for name, one in tensor.inner:
            if tensor_class(state.tensor(one).cls).overrides:
                return Unmodelled("a wrapper around a class that overrides functions")
            payload = _read(state, one, looks=looks, inside=(*inside, t))
            if isinstance(payload, Stop):
                return payload
            inner.append((name, payload))
        return Wrapped(tensor.cls, tuple(inner))
    if impl.storage is None:
        if looks and impl.length:
            return Crash("a null storage is read")
        return Dense(impl.dtype, impl.device, impl.length, None)
    values = state.storage(impl.storage).values
    if values is not None:
        values = values[impl.offset : impl.offset + impl.length]
    return Dense(impl.dtype, impl.device, impl.length, values)


def first(payload: Payload) -> Dense:
    """The payload that a wrapper takes its own dtype, device and size from."""
    while isinstance(payload, Wrapped):
        payload = payload.inner[0][1]
    return payload


def dense(payload: Payload) -> tuple[Dense, ...]:
    """Every innermost tensor, in order."""
    if isinstance(payload, Dense):
        return (payload,)
    return tuple(found for _, one in payload.inner for found in dense(one))


def leaves(payload: Payload) -> tuple[Values, ...]:
    """The values of every innermost tensor, in order."""
    return tuple(one.values for one in dense(payload))


# -- Functions -------------------------------------------------------------------


def apply(payload: Payload, function: Callable[[int], int]) -> Payload:
    """Apply a function to every element."""
    if isinstance(payload, Wrapped):
        inner = tuple((name, apply(one, function)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    if payload.values is None:
        return payload
    values = tuple(function(one) % MODULUS for one in payload.values)
    return Dense(payload.dtype, payload.device, payload.length, values)


def reduced(payload: Payload, length: int) -> Payload | None:
    """A gradient summed to a size that it was broadcast from; `None` if it was not."""
    if first(payload).length == length:
        return payload
    return _summed(payload) if length == 1 else None


def _summed(payload: Payload) -> Payload:
    if isinstance(payload, Wrapped):
        inner = tuple((name, _summed(one)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    values = None if payload.values is None else (sum(payload.values) % MODULUS,)
    return Dense(payload.dtype, payload.device, 1, values)


def moved(payload: Payload, window: tuple[int, ...]) -> Payload:
    """
    The gradient of a base from that of its view, by their offsets and lengths.

    Source: `as_strided_backward`.
    """
    if isinstance(payload, Wrapped):
        inner = tuple((name, moved(one, window)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    offset, length, start, count = window
    if payload.values is None:
        return Dense(payload.dtype, payload.device, length, None)
    there = dict(zip(range(start, start + count), payload.values, strict=True))
    values = tuple(there.get(offset + one, 0) for one in range(length))
    return Dense(payload.dtype, payload.device, length, values)


def cast(payload: Payload, dtype: str) -> Payload:
    """Cast what a class lets be cast; the values stay, being small integers."""
    if isinstance(payload, Wrapped):
        if tensor_class(payload.cls).fixed:
            return payload
        inner = tuple((name, cast(one, dtype)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    return copied_into(payload, dtype)


def copied_into(payload: Payload, dtype: str) -> Payload:
    """Copy into new tensors of another dtype: no class is asked for a cast."""
    if isinstance(payload, Wrapped):
        inner = tuple((name, copied_into(one, dtype)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    return Dense(dtype, payload.device, payload.length, payload.values)


def kind(payload: Payload) -> str:
    """The class that an operation on the payload is dispatched to."""
    return payload.cls if isinstance(payload, Wrapped) else "Tensor"


def inexact(payload: Payload) -> Payload:
    """Bring integers to the default dtype, as a power with a floating exponent does."""
    if isinstance(payload, Wrapped):
        inner = tuple((name, inexact(one)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    return cast(payload, "float32") if payload.dtype in INTEGERS else payload


def detached(payload: Payload) -> Payload:
    """What `detach()` leaves of a payload: some wrappers give an inner tensor."""
    while isinstance(payload, Wrapped) and tensor_class(payload.cls).unwraps:
        payload = payload.inner[0][1]
    if isinstance(payload, Wrapped):
        inner = tuple((name, detached(one)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    return payload


def move(payload: Payload, device: str) -> Payload:
    """Copy every innermost tensor to a device; `meta` keeps no values."""
    if isinstance(payload, Wrapped):
        inner = tuple((name, move(one, device)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    values = None if device == "meta" else payload.values
    return Dense(payload.dtype, device, payload.length, values)


def on_meta(payload: Payload) -> bool:
    """Whether any innermost tensor is on `meta`."""
    return any(one.device == "meta" for one in dense(payload))


def empty(payload: Payload, device: str) -> Payload:
    """`torch.empty_like`: of the same form, with whatever the memory holds."""
    if isinstance(payload, Wrapped):
        inner = tuple((name, empty(one, device)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    return Dense(payload.dtype, device, payload.length, None)


def ones(payload: Payload) -> Payload:
    """`torch.ones_like`."""
    if isinstance(payload, Wrapped):
        inner = tuple((name, ones(one)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    values = None if payload.device == "meta" else (1,) * payload.length
    return Dense(payload.dtype, payload.device, payload.length, values)


def add(a: int, b: int) -> int:
    """The sum of two elements."""
    return a + b


def subtract(a: int, b: int) -> int:
    """The difference of two elements."""
    return a - b


def multiply(a: int, b: int) -> int:
    """The product of two elements."""
    return a * b


APART = {
    ("float16", "bfloat16"): "float32",
    ("float64", "complex64"): "complex128",
}
"""Pairs that are promoted to neither of the two."""


def sort(dtype: str) -> int:
    """What sort of numbers a dtype is of; a higher one does not fit into a lower."""
    return (dtype not in INTEGERS) + (dtype in COMPLEX)


def promote(one: str, other: str) -> str:
    """`torch.promote_types`."""
    lower, upper = sorted((one, other), key=(*INTEGERS, *DIFFERENTIABLE).index)
    return APART.get((lower, upper), upper)
