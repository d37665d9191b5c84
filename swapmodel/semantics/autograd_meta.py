"""
What does a user set on a tensor for autograd: its flag, its gradient?
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop
from swapmodel.semantics.payloads import DIFFERENTIABLE
from swapmodel.state.autograd import in_graph
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Columns
from swapmodel.state.ids import TensorId


def requires_grad(state: Columns, t: TensorId) -> bool:
    """`t.requires_grad`: a view requires a gradient as soon as its base does."""
    meta = state.meta_of(t)
    return in_graph(meta) or (meta.base is not None and in_graph(state.meta(meta.base)))


def set_requires_grad(draft: Draft, t: TensorId, value: bool) -> Stop | None:
    """
    `t.requires_grad_(value)`.

    Refuses to take a non-leaf out of its graph, and integers.
    """
    meta = draft.meta_of(t)
    if meta.grad_fn is not None:
        # [requires-grad/non-leaf]
        return None if value else Refusal("requires-grad/non-leaf")
    if value and draft.impl_of(t).dtype not in DIFFERENTIABLE:
        # [requires-grad/dtype]
        return Refusal("requires-grad/dtype")
    if meta.requires_grad != value:
        draft.edit_meta(draft.tensor(t).impl).requires_grad = value
    return None


def set_grad(draft: Draft, t: TensorId, grad: TensorId) -> Stop | None:
    """
    `t.grad = grad`.

    Refuses another dtype, device or size than that of *t*.  Source:
    `THPVariable_set_grad`.
    """
    one, other = draft.impl_of(t), draft.impl_of(grad)
    if draft.tensor(t).impl == draft.tensor(grad).impl:
        # [grad/own]
        return Refusal("grad/own")
    if one.dtype != other.dtype:
        # [grad/dtype]
        facts = (("dtype", other.dtype), ("expected", one.dtype))
        return Refusal("grad/dtype", facts=facts)
    if one.device != other.device:
        # [grad/device]
        facts = (("device", other.device), ("expected", one.device))
        return Refusal("grad/device", facts=facts)
    if one.length != other.length:
        # [grad/size]
        sizes = (("size", other.length), ("expected", one.length))
        return Refusal("grad/size", facts=sizes)
    draft.edit_meta(draft.tensor(t).impl).grad = draft.tensor(grad).impl
    return None
