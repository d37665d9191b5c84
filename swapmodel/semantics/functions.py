"""
What does the function that a conversion applies make of one tensor?
"""

from __future__ import annotations

from typing import TypeAlias

from swapmodel.conversions import (
    ByRole,
    Cast,
    ConversionFn,
    DetachEach,
    Identity,
    NoTensor,
    Other,
    RaiseAt,
    Scale,
    ScaleInPlace,
    TensorFn,
    To,
    ToDevice,
    ToEmpty,
    Type,
    Unwrap,
    Wrap,
    parts,
)
from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import forward, methods, payloads, places, tensors, writes
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.semantics.edges import move_hooks
from swapmodel.semantics.payloads import (
    COMPLEX,
    DIFFERENTIABLE,
    FLOATING,
    INTEGERS,
    Payload,
    Wrapped,
)
from swapmodel.state.classes import INNER, tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.dtypes import DEVICES, DTYPES, OTHER_INTEGERS
from swapmodel.state.ids import TensorId

Computing: TypeAlias = (
    Cast | To | Type | ToDevice | ToEmpty | DetachEach | Scale | ScaleInPlace | Wrap
)
"""The functions that look at what the tensor holds, or make another of its form."""

MOST = 64
"""How many tensors a wrapper is put around; each wrapping doubles them."""


def refused(fn: ConversionFn) -> Stop | None:
    """What a method of `nn.Module` refuses before it looks at any tensor."""
    if isinstance(fn, To) and fn.dtype in (*INTEGERS, *OTHER_INTEGERS):
        # [convert/dtype]
        return Refusal("convert/dtype", fn.dtype)
    for part in parts(fn):
        if isinstance(part, Cast | To | Type) and part.dtype not in DTYPES:
            return unmodelled_dtype(part.dtype)
        if isinstance(part, ToDevice | ToEmpty) and part.device not in DEVICES:
            return Unmodelled(f"the device {part.device}")
    return None


def unmodelled_dtype(dtype: str) -> Stop | None:
    """Decline a dtype that the model does not know; torch has many more."""
    return None if dtype in DTYPES else Unmodelled(f"the dtype {dtype}")


def call(
    draft: Draft, fn: ConversionFn, t: TensorId, *, number: int = 1, grad: bool = False
) -> TensorId | Stop | None:
    """
    Apply *fn* to *t*; `None` is a result that is no tensor.

    *number* says which call of the conversion this is, *grad* whether grad mode is on,
    as it is for buffers alone.
    """
    refusal = methods.lazy(draft, t)
    if refusal is not None and isinstance(fn, Cast) and _is_denied(draft, fn, t):
        return refusal
    match fn:
        case RaiseAt(at, one):
            if number == at:
                # [function/raised]
                return Refusal("function/raised", facts=(("number", number),))
            return _called(draft, one, t, grad)
        case ByRole(parameter, other):
            one = parameter if tensors.is_parameter(draft, t) else other
            return _called(draft, one, t, grad)
        case _:
            return _called(draft, fn, t, grad)


def _is_denied(draft: Draft, fn: Cast, t: TensorId) -> bool:
    """Whether it is `m.bfloat16()`, of which `_allowed_methods` knows nothing."""
    return draft.impl_of(t).dtype in FLOATING and fn.dtype == "bfloat16"


def _called(
    draft: Draft, fn: TensorFn, t: TensorId, grad: bool
) -> TensorId | Stop | None:
    match fn:
        case Identity():
            return t
        case Unwrap(name):
            return _unwrapped(draft, t, name)
        case NoTensor():
            return None
        case Other(place):
            return _other(draft, place)
    refusal = methods.lazy(draft, t)
    if refusal is not None and not isinstance(fn, Cast | To | ToDevice):
        return refusal
    made = _computed(draft, fn, t, grad)
    return methods.returned(draft, t, made, grad_mode=grad)


def _unwrapped(draft: Draft, t: TensorId, name: str) -> TensorId | Stop:
    """`getattr(t, name, t)`, of which every tensor has more than inner tensors."""
    tensor = draft.tensor(t)
    if name not in INNER or name in dict((*tensor.attributes, *tensor.slots)):
        return Unmodelled(f"a function that reads {name} of a tensor")
    return dict(tensor.inner).get(name, t)


def _computed(
    draft: Draft,
    fn: Computing,
    t: TensorId,
    grad: bool,
) -> TensorId | Stop:
    match fn:
        case Cast(dtype) | To(dtype):
            kept = COMPLEX if isinstance(fn, To) else ()
            if draft.impl_of(t).dtype not in (*FLOATING, *kept):
                return t
            return cast(draft, t, dtype, grad=grad)
        case Type(dtype):
            return cast(draft, t, dtype, grad=grad)
        case ToDevice(device):
            return move(draft, t, device, grad=grad)
        case ToEmpty(device):
            return _empty(draft, t, device)
        case DetachEach():
            return tensors.detach(draft, t)
        case Scale():
            return forward.forward(draft, "scale", t, grad)
        case ScaleInPlace():
            return _scaled(draft, t, grad=grad)
        case _:
            return _wrapped(draft, t, fn.cls)


# -- New tensors ---------------------------------------------------------------------


def cast(
    draft: Draft, t: TensorId, dtype: str, *, grad: bool = False
) -> TensorId | Stop:
    """
    `t.to(dtype)`: *t* itself if its own dtype is that one, else a copy.

    A wrapper is asked for its own dtype, not for those of its inner tensors.
    """
    if draft.impl_of(t).dtype == dtype:
        return t
    payload = payloads.read(draft, t)
    if isinstance(payload, Stop):
        return payload
    return _copied(draft, t, payloads.cast(payload, dtype), grad=grad)


def move(
    draft: Draft, t: TensorId, device: str, *, grad: bool = False
) -> TensorId | Stop:
    """
    `t.to(device)`: *t* itself if its own device is that one, else a copy.

    Nothing can be copied out of `meta`; into it, nothing is read.  A wrapper hands its
    own dtype on with the device, so that its inner tensors are cast to it.
    """
    if draft.impl_of(t).device == device:
        return t
    look = payloads.outline if device == "meta" else payloads.read
    payload = look(draft, t)
    if isinstance(payload, Stop):
        return payload
    if device != "meta" and payloads.on_meta(payload):
        # [device/no-data]
        return Refusal("device/no-data")
    payload = payloads.cast(payload, draft.impl_of(t).dtype)
    return _copied(draft, t, payloads.move(payload, device), grad=grad)


def _copied(draft: Draft, t: TensorId, copy: Payload, *, grad: bool) -> TensorId | Stop:
    differentiable = payloads.first(copy).dtype in DIFFERENTIABLE
    edges = forward.recorded_edges(draft, (t,), grad and differentiable)
    if edges is not None and not isinstance(edges, tuple):
        return edges
    out = tensors.make(draft, copy)
    forward.record(draft, "to-copy", (t,), edges, out)
    return out


def _empty(draft: Draft, t: TensorId, device: str) -> TensorId | Stop:
    """`torch.empty_like(t, device=device)`, which no graph records."""
    payload = payloads.outline(draft, t)
    if isinstance(payload, Stop):
        return payload
    return tensors.make(draft, payloads.empty(payload, device))


def _wrapped(draft: Draft, t: TensorId, cls: str) -> TensorId | Stop:
    """`cls(t.detach().clone(), ...)`, one copy for each inner tensor."""
    inner = tensor_class(cls).inner
    if not inner:
        return Unmodelled(f"{cls} wraps nothing")
    if tensor_class(draft.tensor(t).cls).converts:
        return Unmodelled("a wrapper around tensors of another class")
    if tensor_class(draft.tensor(t).cls).unwraps and draft.impl_of(t).python_key:
        t = draft.tensor(t).inner[0][1]
        return _wrapped(draft, t, cls)
    payload = payloads.read(draft, t)
    if isinstance(payload, Stop):
        return payload
    if len(payloads.dense(payload)) > MOST:
        return Unmodelled(f"a wrapper around more than {MOST} tensors")
    parts = tuple((name, payloads.detached(payload)) for name in inner)
    return tensors.make(draft, Wrapped(cls, parts))


# -- Tensors that are there ----------------------------------------------------------


def _scaled(draft: Draft, t: TensorId, *, grad: bool) -> TensorId | Stop:
    """`t.mul_(3)`: the write is counted and, in grad mode, recorded."""
    recorded = grad and requires_grad(draft, t)
    if recorded and draft.meta_of(t).base is not None:
        return Unmodelled("a view within a graph is written in place")
    if recorded and draft.meta_of(t).grad_fn is None:
        # [write/leaf]
        return Refusal("write/leaf")
    payload = payloads.read(draft, t)
    if isinstance(payload, Stop):
        return payload
    edges = forward.recorded_edges(draft, (t,), grad)
    assert edges is None or isinstance(edges, tuple), "only a view is asked in vain"
    before = draft.meta_of(t).grad_fn
    scaled = payloads.apply(payload, lambda one: one * payloads.SCALE)
    writes.write(draft, t, scaled)
    forward.record(draft, "scale", (t,), edges, t)
    if before is not None and edges is not None:
        move_hooks(draft, t, before)
    return t


def _other(draft: Draft, place: str) -> TensorId | Stop | None:
    """What an expression gives when the function is called."""
    found = places.resolve(draft, place)
    if found is None and not places.holds_none(draft, place):
        # [place/absent]
        return Refusal("place/absent", place)
    if found is None:
        return None
    kind, position = found
    if kind != "tensor":
        return Unmodelled(f"a function that gives a {kind}")
    t = TensorId(position)
    if methods.is_counter(draft, t):
        return methods.COUNTER
    return t
