"""
What does a user hang on a tensor for backward to run?
"""

from __future__ import annotations

from swapmodel.actions import HookKind
from swapmodel.outcomes import Crash, Refusal, Stop
from swapmodel.semantics import edges
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.state.draft import Draft
from swapmodel.state.ids import HooksId, NodeId, TensorId


def register_hook(draft: Draft, t: TensorId, label: str, kind: HookKind) -> Stop | None:
    """Register a hook, which fires as its kind says."""
    match kind:
        case "tensor":
            listed = _tensor_hooks(draft, t)
        case "post-accumulate":
            listed = _post_accumulate_hooks(draft, t)
        case _:
            listed = _node_hooks(draft, t)
    if isinstance(listed, Stop):
        return listed
    hooks = draft.edit_hooks(listed)
    hooks.entries = (*hooks.entries, label)
    return None


def _tensor_hooks(draft: Draft, t: TensorId) -> HooksId | Stop:
    """
    The dict that `t.register_hook` writes to, made to fire if nothing was listed.

    A dict that is listed already is only appended to, whatever it fires for by now.
    """
    if not requires_grad(draft, t):
        # [hook/no-grad]
        return Refusal("hook/no-grad")
    listed = draft.tensor(t).backward_hooks
    if listed is not None:
        return listed
    listed = draft.add_hooks()
    draft.edit_tensor(t).backward_hooks = listed
    if draft.meta_of(t).grad_fn is None:
        draft.edit_meta(draft.tensor(t).impl).hooks = (listed,)
    node = edges.grad_fn(draft, t)
    if isinstance(node, Stop):
        return node
    if draft.tensor(t).backward_hooks is None:
        return Crash("a stale view lost the dict of hooks that is registered")
    if node is not None:
        draft.edit_node(node).hooks = (*draft.node(node).hooks, listed)
    return listed


def _post_accumulate_hooks(draft: Draft, t: TensorId) -> HooksId | Stop:
    """The dict of hooks that fire once a leaf has its gradient, made as above."""
    if not requires_grad(draft, t):
        # [hook/no-grad]
        return Refusal("hook/no-grad")
    node = edges.grad_fn(draft, t)
    if node is not None:
        # [hook/not-a-leaf]
        return Refusal("hook/not-a-leaf") if isinstance(node, int) else node
    listed = draft.tensor(t).post_accumulate_grad_hooks
    if listed is None:
        listed = draft.add_hooks()
        draft.edit_tensor(t).post_accumulate_grad_hooks = listed
        draft.edit_meta(draft.tensor(t).impl).post_accumulate_grad_hooks = listed
    return listed


def _node_hooks(draft: Draft, t: TensorId) -> HooksId | Stop:
    """The hooks of the node that *t* sends its gradient to; they go when it goes."""
    node = asked_edge(draft, t)
    if isinstance(node, Stop):
        return node
    listed = draft.node(node).post_hooks
    if listed is None:
        listed = draft.edit_node(node).post_hooks = draft.add_hooks()
    return listed


def asked_edge(draft: Draft, t: TensorId) -> NodeId | Stop:
    """
    `torch.autograd.graph.get_gradient_edge(t).node`.

    Refuses a tensor that requires no gradient.
    """
    if not requires_grad(draft, t):
        # [edge/no-grad]
        return Refusal("edge/no-grad")
    node = edges.grad_fn(draft, t)
    return edges.edge_of_leaf(draft, t) if node is None else node


def retain_grad(draft: Draft, t: TensorId) -> Stop | None:
    """
    `t.retain_grad()`: have the node of *t* keep the gradient that arrives.

    Does nothing to a leaf.  The hook knows *t* by a C++ weak pointer.
    """
    if not requires_grad(draft, t):
        # [retain-grad/no-grad]
        return Refusal("retain-grad/no-grad")
    meta = draft.meta_of(t)
    if meta.grad_fn is None or meta.retains_grad:
        return None
    node = edges.grad_fn(draft, t)
    if isinstance(node, Stop):
        return node
    assert node is not None, "what has a node is not a leaf"
    i = draft.tensor(t).impl
    draft.edit_node(node).retains = i
    draft.edit_meta(i).retains_grad = True
    return None
