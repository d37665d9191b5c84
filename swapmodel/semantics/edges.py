"""
Which node does the gradient of a tensor go to?

A view asks its base: its own node is made again after a write in place that was not
recorded.
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop
from swapmodel.semantics import payloads
from swapmodel.state.autograd import Node, in_graph
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Columns
from swapmodel.state.ids import ImplId, NodeId, TensorId


def grad_fn(draft: Draft, t: TensorId) -> NodeId | Stop | None:
    """
    `t.grad_fn`, which for a stale view is made again.

    Refuses a stale view that was made under `no_grad`.  Source:
    `VariableHooks::grad_fn`.
    """
    i = draft.tensor(t).impl
    meta = draft.meta(i)
    if meta.base is None or not is_stale(draft, i):
        return meta.grad_fn
    if meta.grad_fn is None and not in_graph(draft.meta(meta.base)):
        return None
    if meta.no_grad_view and meta.grad_fn is None:
        # [view/no-grad]
        return Refusal("view/no-grad")
    if meta.no_grad_view:
        assert meta.grad_fn is not None
        name = draft.node(meta.grad_fn).name.removesuffix("Backward0")
        # [view/of-no-grad]
        return Refusal("view/of-no-grad", name)
    return _made_again(draft, t, i)


def unless_leaf(draft: Draft, t: TensorId, refusal: Refusal) -> Stop | None:
    """
    Give *refusal* for what a graph computed: `t.is_leaf` asks for `t.grad_fn`.

    So a stale view is no leaf any more, and asking can be refused itself.
    """
    node = grad_fn(draft, t)
    return refusal if isinstance(node, int) else node


def is_stale(state: Columns, i: ImplId) -> bool:
    """Whether a view was written in place since its node was made."""
    return state.version(state.impl(i).counter) != state.meta(i).view_version


def _made_again(draft: Draft, t: TensorId, i: ImplId) -> NodeId | Stop:
    meta = draft.edit_meta(i)
    assert meta.base is not None
    made = _replayed(draft, i) if meta.replayed else _strided(draft, i)
    if isinstance(made, Stop):
        return made
    old, meta.grad_fn = meta.grad_fn, made
    meta.view_version = draft.version(draft.impl(i).counter)
    if made is None:
        # [view/base-no-grad]
        return Refusal("view/base-no-grad")
    move_hooks(draft, t, old)
    return made


def move_hooks(draft: Draft, t: TensorId, old: NodeId | None) -> None:
    """
    Leave the dicts of hooks with the old node of *t*, which forgets that it has one.

    Only what retains its gradient goes to the new node.  Source:
    `impl::update_tensor_hooks_on_new_gradfn`.
    """
    i = draft.tensor(t).impl
    meta = draft.edit_meta(i)
    draft.edit_tensor(t).backward_hooks = None
    meta.hooks = ()
    if old is not None and draft.node(old).retains == i:
        assert meta.grad_fn is not None
        draft.edit_node(old).retains = None
        draft.edit_node(meta.grad_fn).retains = i


def _strided(draft: Draft, i: ImplId) -> NodeId:
    """A node that puts the gradient of a view where it was in its base."""
    impl, base = draft.impl(i), draft.meta(i).base
    assert base is not None
    whole = draft.impl(base)
    node = Node(
        name="AsStridedBackward0",
        function="as-strided",
        dtype=whole.dtype,
        length=impl.length,
        device=whole.device,
        edges=(_edge(draft, base),),
        window=(whole.offset, whole.length, impl.offset, impl.length),
    )
    return draft.add_node(node)


def _replayed(draft: Draft, i: ImplId) -> NodeId | Stop | None:
    """The nodes of every view between a wrapper and its base, or none of them."""
    meta = draft.meta(i)
    assert meta.base is not None
    payload = payloads.outline(draft, draft.impl(meta.base).pyobj)
    if isinstance(payload, Stop):
        return payload
    if not in_graph(draft.meta(meta.base)):
        return None
    edge, dense = _edge(draft, meta.base), payloads.first(payload)
    for _ in meta.replayed:
        node = Node(
            name="ViewBackward0",
            function="view",
            dtype=dense.dtype,
            length=dense.length,
            device=dense.device,
            edges=(edge,),
        )
        edge = draft.add_node(node)
    return edge


def gradient_edge(draft: Draft, t: TensorId) -> NodeId | Stop | None:
    """
    The node that takes the gradient of *t*, made for a leaf that has none.

    A view that requires a gradient only because its base does has no node.
    """
    node = grad_fn(draft, t)
    return _edge(draft, draft.tensor(t).impl) if node is None else node


def _edge(draft: Draft, i: ImplId) -> NodeId | None:
    """The node of an impl whose own is up to date. Source: `impl::gradient_edge`."""
    meta = draft.meta(i)
    if meta.grad_fn is not None:
        return meta.grad_fn
    if not meta.requires_grad:
        return None
    if meta.accumulator is not None:
        return meta.accumulator
    impl = draft.impl(i)
    node = draft.add_node(
        Node(
            name="AccumulateGrad",
            function="accumulate",
            dtype=impl.dtype,
            length=impl.length,
            device=impl.device,
            variable=i,
        )
    )
    draft.edit_meta(i).accumulator = node
    return node


def edge_of_leaf(draft: Draft, t: TensorId) -> NodeId | Stop:
    """
    `torch.autograd.graph.get_gradient_edge(t).node` of a leaf in a graph.

    It is read off a new view, which the class of *t* can refuse, so that a wrapper must
    be as large as its inner tensors, and it is refused to a view that only its base
    makes require a gradient.
    """
    known = tensor_class(draft.tensor(t).cls)
    if known.uninitialized:
        # [class/uninitialized]
        return Refusal("class/uninitialized", known.name)
    payload = payloads.outline(draft, t)
    if isinstance(payload, Stop):
        return payload
    length = draft.impl_of(t).length
    for one in payloads.dense(payload):
        if one.length != length:
            # [edge/view-as]
            facts = (("size", length), ("expected", one.length))
            return Refusal("edge/view-as", facts=facts)
    node = _edge(draft, draft.tensor(t).impl)
    if node is None:
        # [edge/no-function]
        return Refusal("edge/no-function")
    if not known.converts:
        return node
    # [edge/of-the-view] What is converted is a view of the new view, so that the node
    # behind it is that view's, which nothing keeps.
    whole = draft.impl_of(t)
    view = Node(
        name="ViewBackward0",
        function="view",
        dtype=whole.dtype,
        length=whole.length,
        device=whole.device,
        edges=(node,),
    )
    return draft.add_node(view)
