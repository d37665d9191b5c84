"""
What do functions of two tensors make of wrappers and of sizes?
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from swapmodel.outcomes import Unmodelled
from swapmodel.semantics.payloads import MODULUS, Dense, Payload, Wrapped, promote


def combine(
    one: Payload, other: Payload, function: Callable[[int, int], int]
) -> Payload:
    """Apply a function to the elements of two payloads; wrappers spread over plain."""
    if isinstance(one, Wrapped):
        parts = _parts(other, one.cls)
        inner = tuple(
            (name, combine(part, parts.get(name, other), function))
            for name, part in one.inner
        )
        return Wrapped(one.cls, inner)
    if isinstance(other, Wrapped):
        return combine(other, one, lambda a, b: function(b, a))
    dtype, length = promote(one.dtype, other.dtype), together(one, other)
    if one.values is None or other.values is None:
        return Dense(dtype, one.device, length, None)
    spread = (_spread(values, length) for values in (one.values, other.values))
    values = tuple(function(a, b) % MODULUS for a, b in zip(*spread, strict=True))
    return Dense(dtype, one.device, length, values)


def _parts(payload: Payload, cls: str) -> dict[str, Payload]:
    """What a handler takes apart: the wrappers of its own class alone."""
    if isinstance(payload, Wrapped) and payload.cls == cls:
        return dict(payload.inner)
    return {}


def together(one: Dense, other: Dense) -> int:
    """The size that two are broadcast to; one of them has it, or no element."""
    return other.length if one.length == 1 else one.length


ON_META = Unmodelled("sizes that differ on meta")

Clash: TypeAlias = tuple[tuple[str, int | str], ...] | None
"""What does not go together, as a refusal tells it."""


def _clash(one: Payload, other: Payload, of: Callable[[Dense, Dense], Clash]) -> Clash:
    """The first clash of two innermost tensors that a function meets."""
    found = (of(*pair) for pair in pairs(one, other))
    return next((clash for clash in found if clash is not None), None)


def pairs(one: Payload, other: Payload) -> tuple[tuple[Dense, Dense], ...]:
    """Which innermost tensors a function of two meets together, in its order."""
    if isinstance(one, Wrapped):
        parts = _parts(other, one.cls)
        met = [(part, parts.get(name, other)) for name, part in one.inner]
    elif isinstance(other, Wrapped):
        met = [(one, part) for _, part in other.inner]
    else:
        return ((one, other),)
    return tuple(pair for both in met for pair in pairs(*both))


def sizes(one: Payload, other: Payload) -> Clash:
    """Two sizes that cannot be broadcast to one, if there are any."""

    def of(a: Dense, b: Dense) -> Clash:
        fits = a.length == b.length or 1 in (a.length, b.length)
        return None if fits else (("a", a.length), ("b", b.length))

    return _clash(one, other, of)


def devices(one: Payload, other: Payload) -> Clash:
    """The device that is expected and another one that is met, if they differ."""

    def of(a: Dense, b: Dense) -> Clash:
        same = a.device == b.device
        return None if same else (("expected", a.device), ("device", b.device))

    return _clash(one, other, of)


def _spread(values: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Repeat the one element that is broadcast."""
    return values if len(values) == length else values * length


def spread(payload: Payload, length: int) -> Payload:
    """Broadcast to a size."""
    if isinstance(payload, Wrapped):
        inner = tuple((name, spread(one, length)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    values = None if payload.values is None else _spread(payload.values, length)
    return Dense(payload.dtype, payload.device, length, values)
