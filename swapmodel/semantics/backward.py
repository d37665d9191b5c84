"""
In what order does backward run what a forward recorded, and what stops it?
"""

from __future__ import annotations

from attrs import define

from swapmodel.outcomes import Refusal, Stop
from swapmodel.semantics import broadcast, nodes, payloads, tensors
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.semantics.edges import gradient_edge
from swapmodel.semantics.nodes import ANOTHER_DEVICE, Sent
from swapmodel.semantics.payloads import Dense, Payload
from swapmodel.state.autograd import Node
from swapmodel.state.draft import Draft
from swapmodel.state.events import Fired
from swapmodel.state.ids import HooksId, ImplId, NodeId, TensorId


@define
class Arrived:
    """The gradient that has arrived at a node by now."""

    gradient: Payload
    writes: int = 0
    """How often it has been written in place."""


def backward(draft: Draft, t: TensorId) -> Stop | None:
    """
    `t.backward(torch.ones_like(t))`, which frees what the graph saved.

    Refuses a tensor outside any graph, a poisoned node, a node that was freed
    before, a saved tensor that was written since and a gradient of another size.
    """
    payload = payloads.outline(draft, t)
    if isinstance(payload, Stop):
        return payload
    size, expected = payloads.first(payload).length, draft.impl_of(t).length
    if size != expected:
        # [backward/mismatch]
        facts = (("size", size), ("expected", expected))
        return Refusal("backward/mismatch", facts=facts)
    if not requires_grad(draft, t):
        # [backward/no-graph]
        return Refusal("backward/no-graph")
    root = gradient_edge(draft, t)
    if root is None:
        # [backward/no-graph]
        return Refusal("backward/no-graph")
    if isinstance(root, Stop):
        return root
    gradient = _fitting(draft.node(root), payloads.ones(payload))
    if payloads.first(payload).device != draft.node(root).device:
        return ANOTHER_DEVICE
    if gradient is None:
        # [backward/invalid-root]
        facts = (("size", size), ("expected", draft.node(root).length))
        return Refusal("backward/invalid-root", facts=facts)
    return _run(draft, root, gradient)


def _run(draft: Draft, root: NodeId, gradient: Payload) -> Stop | None:
    """Run every node behind *root* once all its gradients are there, newest first."""
    waiting = _dependencies(draft, root)
    arrived = {root: Arrived(gradient)}
    ready = [root]
    while ready:
        n = max(ready, key=lambda one: _priority(draft, one))
        ready.remove(n)
        sent = _run_node(draft, n, arrived.pop(n), given=n == root)
        if not isinstance(sent, tuple):
            return sent
        for edge, one in zip(draft.node(n).edges, sent, strict=True):
            if edge is None:
                continue
            assert one is not None
            writes = nodes.writes_sent(draft, draft.node(n), edge)
            stop = arrive(arrived, edge, Arrived(one, writes))
            if stop is not None:
                return stop
            waiting[edge] -= 1
            if not waiting[edge]:
                ready.append(edge)
    return None


def _priority(draft: Draft, n: NodeId) -> tuple[bool, int]:
    """An `AccumulateGrad` comes first, in the order in which they got ready."""
    accumulates = draft.node(n).variable is not None
    return accumulates, 0 if accumulates else n


def arrive(arrived: dict[NodeId, Arrived], n: NodeId, one: Arrived) -> Stop | None:
    """
    Hand a gradient to a node, or add it to the one that waits there.

    The first one is written to if it is dense; its memory is nobody else's.
    """
    there = arrived.get(n)
    if there is None:
        arrived[n] = one
        return None
    if broadcast.devices(there.gradient, one.gradient) is not None:
        return ANOTHER_DEVICE
    in_place = isinstance(there.gradient, Dense) and there.gradient.device != "meta"
    there.gradient = broadcast.combine(there.gradient, one.gradient, payloads.add)
    there.writes += in_place
    return None


def _dependencies(draft: Draft, root: NodeId) -> dict[NodeId, int]:
    """How many gradients each node behind *root* has to wait for."""
    found: dict[NodeId, int] = {root: 0}
    todo = [root]
    while todo:
        for edge in draft.node(todo.pop()).edges:
            if edge is None:
                continue
            if edge not in found:
                found[edge] = 0
                todo.append(edge)
            found[edge] += 1
    return found


def _run_node(draft: Draft, n: NodeId, one: Arrived, *, given: bool) -> Sent | Stop:
    """
    Run one node: its hooks, its prehook, its function; free what it saved.

    *given* says that the gradient is the caller's own tensor.
    """
    node = draft.node(n)
    if node.variable is not None:
        _fire(draft, draft.meta(node.variable).hooks)
    else:
        _fire(draft, node.hooks)
    stop = _retain(draft, node.retains, one.gradient)
    if stop is not None:
        return stop
    if node.poisoned:
        # [backward/poisoned]
        return Refusal("backward/poisoned")
    if node.variable is not None:
        sent = _accumulate(draft, node.variable, one, given=given)
    else:
        sent = _sent(draft, node, one.gradient)
    if not isinstance(sent, tuple):
        return sent
    if node.post_hooks is not None:
        for label in draft.hooks_at(node.post_hooks).entries:
            draft.events.append(Fired(label, "node"))
    if node.saved or node.constant:
        edited = draft.edit_node(n)
        edited.freed, edited.saved = True, ()
    return sent


def _fire(draft: Draft, dicts: tuple[HooksId, ...]) -> None:
    for one in dicts:
        for label in draft.hooks_at(one).entries:
            draft.events.append(Fired(label, "tensor"))


def _retain(draft: Draft, i: ImplId | None, gradient: Payload) -> Stop | None:
    """What the hook of `retain_grad` does: keep a copy, or the sum in a new tensor."""
    if i is None:
        return None
    kept = draft.grad_of(draft.impl(i).pyobj)
    if kept is not None:
        before = payloads.read(draft, kept)
        if isinstance(before, Stop):
            return before
        if broadcast.devices(before, gradient) is not None:
            return ANOTHER_DEVICE
        gradient = broadcast.combine(before, gradient, payloads.add)
    new = tensors.make(draft, gradient)
    draft.edit_meta(i).grad = draft.tensor(new).impl
    return None


def _accumulate(draft: Draft, i: ImplId, one: Arrived, *, given: bool) -> Sent | Stop:
    stop = nodes.accumulate(draft, i, one.gradient, counted=one.writes, given=given)
    if stop is not None:
        return stop
    hooks = draft.meta(i).post_accumulate_grad_hooks
    if hooks is not None:
        for label in draft.hooks_at(hooks).entries:
            draft.events.append(Fired(label, "post-accumulate"))
    return ()


def _sent(draft: Draft, node: Node, gradient: Payload) -> Sent | Stop:
    """What a node sends, each gradient as the node behind that edge wants it."""
    if node.freed:
        # [backward/freed]
        return Refusal("backward/freed")
    sent = nodes.sent_on(draft, node, gradient)
    if not isinstance(sent, tuple):
        return sent
    fitting: list[Payload | None] = []
    for index, (edge, one) in enumerate(zip(node.edges, sent, strict=True)):
        if edge is None or one is None:
            fitting.append(None)
            continue
        into = draft.node(edge)
        if payloads.first(one).device != into.device:
            return ANOTHER_DEVICE
        fits = _fitting(into, one)
        if fits is None:
            # [backward/invalid-gradient]
            facts = (
                ("function", node.name),
                ("index", index),
                ("size", payloads.first(one).length),
                ("expected", into.length),
            )
            return Refusal("backward/invalid-gradient", facts=facts)
        fitting.append(fits)
    return tuple(fitting)


def _fitting(node: Node, gradient: Payload) -> Payload | None:
    """
    A gradient as the `input_metadata` of a node wants it, or `None`.

    It is summed to the size and cast to the dtype.  Source: `validate_outputs`.
    """
    reduced = payloads.reduced(gradient, node.length)
    if reduced is None or payloads.first(reduced).dtype == node.dtype:
        return reduced
    return payloads.cast(reduced, node.dtype)
