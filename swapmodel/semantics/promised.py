"""
What is the function of a conversion to make of what a tensor holds?
"""

from __future__ import annotations

from swapmodel.conversions import (
    ByRole,
    Cast,
    ConversionFn,
    DetachEach,
    Identity,
    RaiseAt,
    Scale,
    ScaleInPlace,
    To,
    ToDevice,
    ToEmpty,
    Type,
    Unwrap,
    Wrap,
)
from swapmodel.semantics import payloads
from swapmodel.semantics.payloads import COMPLEX, FLOATING, Payload, Wrapped
from swapmodel.state.classes import tensor_class


def promised(fn: ConversionFn, old: Payload, *, parameter: bool) -> Payload | None:
    """What *fn* makes of what a tensor holds; `None` if that is not for it to say."""
    match fn:
        case RaiseAt(_, one):
            return promised(one, old, parameter=parameter)
        case ByRole(one, other):
            return promised(one if parameter else other, old, parameter=parameter)
        case Cast(dtype) | To(dtype):
            kept = COMPLEX if isinstance(fn, To) else ()
            cast = payloads.first(old).dtype in (*FLOATING, *kept)
            return payloads.cast(old, dtype) if cast else old
        case Type(dtype):
            return payloads.cast(old, dtype)
        case ToDevice(device):
            return payloads.move(old, device)
        case ToEmpty(device):
            return payloads.empty(old, device)
        case Identity() | DetachEach():
            return old
        case Scale() | ScaleInPlace():
            return payloads.apply(old, lambda one: one * payloads.SCALE)
        case Wrap(cls):
            inner = tensor_class(cls).inner
            return Wrapped(cls, tuple((name, old) for name in inner))
        case Unwrap(name):
            return dict(old.inner).get(name, old) if isinstance(old, Wrapped) else old
        case _:
            return None
