"""
What does backward do with what a forward recorded?
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import payloads, tensors
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.semantics.forward import FUNCTIONS, gradient_edge
from swapmodel.semantics.payloads import Dense, Payload, Wrapped
from swapmodel.state.autograd import Node, SavedVariable
from swapmodel.state.draft import Draft
from swapmodel.state.events import Fired
from swapmodel.state.ids import HooksId, ImplId, NodeId, TensorId

ANOTHER_SIZE = Unmodelled("a gradient meets a tensor of another size")


def backward(draft: Draft, t: TensorId) -> Stop | None:
    """
    `t.backward(torch.ones_like(t))`, which frees what the graph saved.

    Refuses a tensor outside any graph, a poisoned node, a node that was freed
    before and a saved tensor that was written since.
    """
    payload = payloads.outline(draft, t)
    if not isinstance(payload, Dense | Wrapped):
        return payload
    if not requires_grad(draft, t):
        # [backward/no-graph]
        return Refusal("backward/no-graph")
    root = gradient_edge(draft, t)
    waiting = _dependencies(draft, root)
    arrived: dict[NodeId, Payload] = {root: payloads.ones(payload)}
    ready = [root]
    while ready:
        node = max(ready, key=lambda n: (draft.node(n).variable is not None, n))
        ready.remove(node)
        sent = _run_node(draft, node, arrived.pop(node), given=node == root)
        if not isinstance(sent, Dense | Wrapped | None):
            return sent
        for edge in draft.node(node).edges:
            if edge is None:
                continue
            assert sent is not None
            before = arrived.get(edge)
            arrived[edge] = (
                sent if before is None else payloads.combine(before, sent, payloads.add)
            )
            waiting[edge] -= 1
            if not waiting[edge]:
                ready.append(edge)
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


def _run_node(
    draft: Draft, n: NodeId, gradient: Payload, *, given: bool
) -> Payload | Stop | None:
    """
    Run one node: its hooks, its prehook, its function; free what it saved.

    *given* says that the gradient is the caller's own tensor.
    """
    node = draft.node(n)
    if payloads.first(gradient).length != node.length:
        return ANOTHER_SIZE
    if payloads.first(gradient).dtype != node.dtype:
        gradient = payloads.cast(gradient, node.dtype)
    if node.variable is not None:
        _fire(draft, draft.meta(node.variable).hooks)
    else:
        _fire(draft, node.hooks)
    if node.poisoned:
        # [backward/poisoned]
        return Refusal("backward/poisoned")
    if node.variable is not None:
        return accumulate(draft, node.variable, gradient, given=given)
    if node.freed:
        # [backward/freed]
        return Refusal("backward/freed")
    sent = _gradient(draft, node, gradient)
    if isinstance(sent, Dense | Wrapped):
        edited = draft.edit_node(n)
        edited.freed = FUNCTIONS[node.function].frees
        edited.saved = ()
    return sent


def _fire(draft: Draft, dicts: tuple[HooksId, ...]) -> None:
    for one in dicts:
        for label in draft.hooks_at(one).entries:
            draft.events.append(Fired(label, "tensor"))


def _gradient(draft: Draft, node: Node, gradient: Payload) -> Payload | Stop:
    if node.function in ("view", "alias"):
        return gradient
    if node.function == "scale":
        return payloads.apply(gradient, lambda one: one * payloads.SCALE)
    assert node.function == "square"
    (saved,) = node.saved
    value = _unpacked(draft, saved)
    if not isinstance(value, Dense | Wrapped):
        return value
    if payloads.first(value).length != payloads.first(gradient).length:
        return ANOTHER_SIZE
    value = payloads.inexact(value)
    return payloads.combine(gradient, value, lambda g, one: 2 * g * one)


def _unpacked(draft: Draft, saved: SavedVariable) -> Payload | Stop:
    """Read a saved tensor as it is now, unless a write in place was counted."""
    impl = draft.impl(saved.impl)
    if draft.version(impl.counter) != saved.version:
        # [backward/written-in-place]
        return Refusal("backward/written-in-place")
    return payloads.read(draft, impl.pyobj)


def accumulate(
    draft: Draft, i: ImplId, gradient: Payload, *, given: bool
) -> Stop | None:
    """
    What `AccumulateGrad` does: attach a first gradient, add a later one in place.

    A first one that the caller holds is copied into a new tensor of its own dtype,
    inner tensors included, which counts as a write.  Source:
    `torch/csrc/autograd/functions/accumulate_grad.h`.
    """
    grad = draft.meta(i).grad
    if grad is None:
        if given:
            gradient = payloads.cast(gradient, payloads.first(gradient).dtype)
        else:
            gradient = payloads.detached(gradient)
        new = draft.tensor(tensors.make(draft, gradient)).impl
        if given:
            draft.bump_version(new)
        draft.edit_meta(i).grad = new
        return None
    t = draft.impl(grad).pyobj
    before = payloads.read(draft, t)
    if not isinstance(before, Dense | Wrapped):
        return before
    if isinstance(gradient, Wrapped) and payloads.kind(before) != gradient.cls:
        return Unmodelled("a wrapper's handler meets a gradient of another class")
    if payloads.loses_kind(before, gradient):
        return Unmodelled("a gradient is added to integers")
    if payloads.first(before).length != payloads.first(gradient).length:
        return ANOTHER_SIZE
    tensors.write(draft, t, payloads.combine(before, gradient, payloads.add))
    return None
