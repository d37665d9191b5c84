"""
What does a tensor hold, and what do the functions of the algebra make of it?

Values are small integers modulo 8, exact in every dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from swapmodel.outcomes import Crash, Refusal, Stop
from swapmodel.state.classes import tensor_class
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


def _read(state: Columns, t: TensorId, *, looks: bool) -> Payload | Stop:
    tensor, impl = state.tensor(t), state.impl_of(t)
    if impl.python_key:
        if not tensor_class(tensor.cls).inner:
            # [dispatch/no-handler]
            return Refusal("dispatch/no-handler")
        inner: list[tuple[str, Payload]] = []
        for name, one in tensor.inner:
            payload = _read(state, one, looks=looks)
            if not isinstance(payload, Dense | Wrapped):
                return payload
            inner.append((name, payload))
        return Wrapped(tensor.cls, tuple(inner))
    if impl.storage is None:
        if looks:
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


def leaves(payload: Payload) -> tuple[Values, ...]:
    """The values of every innermost tensor, in order."""
    if isinstance(payload, Dense):
        return (payload.values,)
    return tuple(values for _, one in payload.inner for values in leaves(one))


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


def combine(
    one: Payload, other: Payload, function: Callable[[int, int], int]
) -> Payload:
    """Apply a function to the elements of two payloads; wrappers spread over plain."""
    if isinstance(one, Wrapped):
        parts = dict(other.inner) if isinstance(other, Wrapped) else {}
        inner = tuple(
            (name, combine(part, parts.get(name, other), function))
            for name, part in one.inner
        )
        return Wrapped(one.cls, inner)
    if isinstance(other, Wrapped):
        return combine(other, one, lambda a, b: function(b, a))
    dtype = promote(one.dtype, other.dtype)
    if one.values is None or other.values is None:
        return Dense(dtype, one.device, one.length, None)
    pairs = zip(one.values, other.values, strict=True)
    values = tuple(function(a, b) % MODULUS for a, b in pairs)
    return Dense(dtype, one.device, one.length, values)


def cast(payload: Payload, dtype: str) -> Payload:
    """Cast every innermost tensor; the values stay, being small integers."""
    if isinstance(payload, Wrapped):
        inner = tuple((name, cast(one, dtype)) for name, one in payload.inner)
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
    return payload


def loses_kind(one: Payload, other: Payload) -> bool:
    """Whether floating values would be written into integers, which torch refuses."""
    if isinstance(one, Wrapped):
        parts = dict(other.inner) if isinstance(other, Wrapped) else {}
        return any(loses_kind(part, parts.get(name, other)) for name, part in one.inner)
    return one.dtype in INTEGERS and first(other).dtype not in INTEGERS


def ones(payload: Payload) -> Payload:
    """`torch.ones_like`."""
    if isinstance(payload, Wrapped):
        inner = tuple((name, ones(one)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    values = (1,) * payload.length
    return Dense(payload.dtype, payload.device, payload.length, values)


def add(a: int, b: int) -> int:
    """The sum of two elements."""
    return a + b


INTEGERS = ("bool", "uint8", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")

APART = {
    ("float16", "bfloat16"): "float32",
    ("float64", "complex64"): "complex128",
}
"""Pairs that are promoted to neither of the two."""


def promote(one: str, other: str) -> str:
    """`torch.promote_types`."""
    lower, upper = sorted((one, other), key=(*INTEGERS, *FLOATS).index)
    return APART.get((lower, upper), upper)
