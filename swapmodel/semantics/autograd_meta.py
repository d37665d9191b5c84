"""
What does a user set on a tensor for autograd: its flag, its gradient, hooks?
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Columns
from swapmodel.state.ids import TensorId


def requires_grad(state: Columns, t: TensorId) -> bool:
    """`t.requires_grad`."""
    meta = state.meta_of(t)
    return meta.requires_grad or meta.grad_fn is not None


def set_requires_grad(draft: Draft, t: TensorId, value: bool) -> Stop | None:
    """
    `t.requires_grad_(value)`.

    Refuses to take a non-leaf out of its graph.
    """
    meta = draft.meta_of(t)
    if meta.grad_fn is not None:
        # [requires-grad/non-leaf]
        return None if value else Refusal("requires-grad/non-leaf")
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


def register_hook(draft: Draft, t: TensorId, label: str) -> Stop | None:
    """
    `t.register_hook(...)`: list the hook, and make it fire if nothing was listed.

    A dict that is listed already is only appended to, whatever it fires for by now.
    """
    if not requires_grad(draft, t):
        # [hook/no-grad]
        return Refusal("hook/no-grad")
    tensor = draft.tensor(t)
    listed = tensor.backward_hooks
    if listed is None:
        listed = draft.add_hooks()
        draft.edit_tensor(t).backward_hooks = listed
        grad_fn = draft.meta_of(t).grad_fn
        if grad_fn is None:
            draft.edit_meta(tensor.impl).hooks = (listed,)
        else:
            draft.edit_node(grad_fn).hooks = (*draft.node(grad_fn).hooks, listed)
    hooks = draft.edit_hooks(listed)
    hooks.entries = (*hooks.entries, label)
    return None
