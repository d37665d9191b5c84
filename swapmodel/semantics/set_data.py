"""
What does `t.data = u` check, keep and replace?
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop
from swapmodel.semantics import spec, tensors
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.semantics.spec import Frame, phase
from swapmodel.state.draft import Draft
from swapmodel.state.dtypes import DENSE_DEVICES, DIFFERENTIABLE
from swapmodel.state.ids import TensorId

spec.operation("set_data", "target", "data")

OPERANDS = ("target", "data")


def set_data(
    draft: Draft, frame: Frame, target: TensorId, data: TensorId
) -> Stop | None:
    """
    Give *target* the data of another tensor: `target.data = data`.

    Source: `VariableHooks::set_data`.
    """
    call = Frame(frame.spec)
    call.target, call.data = target, data
    return spec.call(draft, call, "set_data")


def compatible(draft: Draft, t: TensorId, u: TensorId) -> bool:
    """
    Whether *t* can take the data of *u* without becoming another kind of impl.

    Dense impls pass for each other, intercepted or not; on `meta` they do not.
    Source: `torch._has_compatible_shallow_copy_type`.
    """
    one, other = draft.impl_of(t), draft.impl_of(u)
    if one.device in DENSE_DEVICES:
        return other.device in DENSE_DEVICES
    return (one.device, one.python_key) == (other.device, other.python_key)


@phase("compatible-type", "set_data", reads=OPERANDS)
def compatible_type(draft: Draft, frame: Frame) -> Stop | None:
    """Refuse data of another kind of impl, such as another device's."""
    if not compatible(draft, frame.target, frame.data):
        # [set-data/compatible-type]
        return Refusal("set-data/compatible-type")
    return None


@phase("differentiable-dtype", "set_data", reads=OPERANDS)
def differentiable_dtype(draft: Draft, frame: Frame) -> Stop | None:
    """Refuse integers for a tensor that requires gradients."""
    needs_grad = requires_grad(draft, frame.target)
    if needs_grad and draft.impl_of(frame.data).dtype not in DIFFERENTIABLE:
        # [set-data/differentiable-dtype]
        return Refusal("set-data/differentiable-dtype")
    return None


@phase("reset-accumulator", "set_data", reads=OPERANDS)
def reset_accumulator(draft: Draft, frame: Frame) -> Stop | None:
    """
    Forget the `AccumulateGrad` node when dtype or device change, not for a size.

    Graphs that hold the node keep it, so that one tensor can have two.
    """
    target, data = draft.impl_of(frame.target), draft.impl_of(frame.data)
    if (target.dtype, target.device) != (data.dtype, data.device):
        draft.edit_meta(draft.tensor(frame.target).impl).accumulator = None
    return None


@phase("copy-impl", "set_data", reads=OPERANDS)
def copy_impl(draft: Draft, frame: Frame) -> Stop | None:
    """
    Copy the outer impl alone; a wrapper's inner tensors are not looked at.

    The fault of the thread that pytorch#122755 answers.
    """
    source = draft.tensor(frame.data).impl
    tensors.move_data(draft, draft.tensor(frame.target).impl, source)
    return None
