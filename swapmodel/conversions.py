"""
What can a conversion apply to every tensor of a module?  One record per function.

A method of `nn.Module` where there is one, else a function handed to `m._apply`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from attrs import frozen

from swapmodel.named import Checked, Name, Place

# -- Methods of a module -------------------------------------------------------------


@frozen
class Cast(Checked):
    """Cast what is floating point: `m.double()`, `m.float()`, `m.half()`."""

    dtype: str


@frozen
class To(Checked):
    """Cast what is floating point or complex: `m.to(dtype)`."""

    dtype: str


@frozen
class Type(Checked):
    """Cast everything, integers too: `m.type(dtype)`."""

    dtype: str


@frozen
class ToDevice(Checked):
    """Move everything: `m.to(device)`."""

    device: str


@frozen
class ToEmpty(Checked):
    """Give everything uninitialised memory: `m.to_empty(device=device)`."""

    device: str


# -- Functions for `m._apply` --------------------------------------------------------


@frozen
class Identity(Checked):
    """Give the tensor itself: `lambda t: t`, as `m.share_memory()` does."""


@frozen
class DetachEach(Checked):
    """Give an alias: `lambda t: t.detach()`."""


@frozen
class Scale(Checked):
    """Give a new tensor of other values: `lambda t: t * 3`; twice is not once."""


@frozen
class ScaleInPlace(Checked):
    """Write the tensor and give it: `lambda t: t.mul_(3)`; twice is not once."""


@frozen
class Wrap(Checked):
    """Give a wrapper around copies: `lambda t: cls(t.detach().clone(), ...)`."""

    cls: str


@frozen
class Unwrap(Checked):
    """Give an inner tensor of a wrapper: `lambda t: getattr(t, "a", t)`."""

    inner: Name = "a"


@frozen
class NoTensor(Checked):
    """Give nothing, as a function without `return` does: `lambda t: None`."""


@frozen
class Other(Checked):
    """Give what stands somewhere else: `lambda t: m.bias`."""

    place: Place


TensorFn: TypeAlias = (
    Cast
    | To
    | Type
    | ToDevice
    | ToEmpty
    | Identity
    | DetachEach
    | Scale
    | ScaleInPlace
    | Wrap
    | Unwrap
    | NoTensor
    | Other
)
"""What is applied to one tensor, whichever it is and however often."""


@frozen
class RaiseAt(Checked):
    """Apply *fn*, and raise a `ValueError` in place of the call of that number."""

    number: int
    fn: TensorFn


@frozen
class ByRole(Checked):
    """Apply one function to each `Parameter`, another to gradients and buffers."""

    parameter: TensorFn
    other: TensorFn


ConversionFn: TypeAlias = TensorFn | RaiseAt | ByRole


def parts(fn: ConversionFn) -> Iterator[TensorFn]:
    """Yield what a function can apply to a tensor."""
    match fn:
        case RaiseAt(_, one):
            yield one
        case ByRole(one, other):
            yield from (one, other)
        case _:
            yield fn
