"""
What gradient does each node send on, and what does the last one accumulate?
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import broadcast, edges, payloads, tensors, writes
from swapmodel.semantics.payloads import Payload
from swapmodel.state.autograd import Node, SavedVariable
from swapmodel.state.draft import Draft
from swapmodel.state.ids import ImplId, NodeId

Sent = tuple[Payload | None, ...]
"""What goes along each edge of a node; nothing along an edge that leads nowhere."""

ANOTHER_DEVICE = Unmodelled("a gradient meets a tensor on another device")


def sent_on(draft: Draft, node: Node, gradient: Payload) -> Sent | Stop:
    """Run a node's function: what it sends along each of its edges."""
    values: dict[int, Payload] = {}
    for saved in node.saved:
        value = _unpacked(draft, saved, gradient)
        if isinstance(value, Stop):
            return value
        if broadcast.devices(gradient, value) is not None:
            return ANOTHER_DEVICE
        values[saved.operand] = value
    if node.function == "product":
        return tuple(
            broadcast.combine(gradient, values[other], payloads.multiply)
            if edge is not None
            else None
            for edge, other in zip(node.edges, (1, 0), strict=True)
        )
    if node.function == "to-copy":
        return _copied_back(draft, node, gradient)
    if not any(edge is not None for edge in node.edges):
        return (None,) * len(node.edges)
    if node.function == "view" and node.edges[0] is not None:
        refused = _reshaped(gradient, draft.node(node.edges[0]).length)
        if refused is not None:
            return refused
    sent = _gradient(node, gradient, values)
    return tuple(None if edge is None else sent for edge in node.edges)


def _reshaped(gradient: Payload, length: int) -> Refusal | None:
    """Refuse what a view cannot give back the size of what it viewed."""
    for one in payloads.dense(gradient):
        if one.length != length:
            # [backward/view-size]
            facts = (("size", one.length), ("expected", length))
            return Refusal("backward/view-size", facts=facts)
    return None


def writes_sent(draft: Draft, node: Node, edge: NodeId) -> int:
    """
    How many writes in place the gradient that a node sends has counted.

    That of a strided view is copied into zeros; what has to be cast or summed up on
    the way is a new tensor again.  Source: `as_strided_backward`.
    """
    if node.function != "as-strided":
        return 0
    into = draft.node(edge)
    _, whole, *_ = node.window
    return int((into.dtype, into.length) == (node.dtype, whole))


def _copied_back(draft: Draft, node: Node, gradient: Payload) -> Sent | Stop:
    """Send a gradient back to the device that the copied tensor was on."""
    (edge,) = node.edges
    if edge is None:
        return (None,)
    device = draft.node(edge).device
    if device != "meta" and payloads.on_meta(gradient):
        # [device/no-data]
        return Refusal("device/no-data")
    return (payloads.move(gradient, device),)


def _gradient(node: Node, gradient: Payload, values: dict[int, Payload]) -> Payload:
    """The gradient of a function of one operand."""
    match node.function:
        case "view" | "alias":
            return gradient
        case "as-strided":
            return payloads.moved(gradient, node.window)
        case "scale":
            return payloads.apply(gradient, lambda one: one * payloads.SCALE)
    (value,) = values.values()
    if node.function == "relu":
        return broadcast.combine(gradient, value, lambda g, one: g if one else 0)
    assert node.function == "square"
    value = payloads.inexact(value)
    return broadcast.combine(gradient, value, lambda g, one: 2 * g * one)


def _unpacked(draft: Draft, saved: SavedVariable, gradient: Payload) -> Payload | Stop:
    """
    Read a saved tensor as it is beside a gradient now, unless a write was counted.

    Its node is asked for first, for the text.  Source: `SavedVariable::unpack`.
    """
    impl = draft.impl(saved.impl)
    node = edges.grad_fn(draft, impl.pyobj)
    if isinstance(node, Stop):
        return node
    if draft.version(impl.counter) != saved.version:
        # [backward/written-in-place]
        return Refusal("backward/written-in-place")
    return payloads.beside(draft, impl.pyobj, gradient)


def accumulate(
    draft: Draft, i: ImplId, gradient: Payload, *, counted: int, given: bool
) -> Stop | None:
    """
    What `AccumulateGrad` does: attach a first gradient, add a later one in place.

    A first one that the caller holds is copied into a new tensor of its own dtype and
    device and the variable's size, inner tensors included, which counts as a write;
    another one is taken with the writes *counted* that summed it up.  Source:
    `torch/csrc/autograd/functions/accumulate_grad.h`.
    """
    node = edges.grad_fn(draft, draft.impl(i).pyobj)
    if isinstance(node, int):
        # [accumulate/not-a-leaf]
        return Refusal("accumulate/not-a-leaf")
    if node is not None or not draft.meta(i).requires_grad:
        return node
    grad = draft.meta(i).grad
    if grad is not None:
        return writes.add_in_place(draft, draft.impl(grad).pyobj, gradient)
    if given:
        outer = payloads.first(gradient)
        gradient = payloads.copied_into(gradient, outer.dtype)
        gradient = payloads.move(gradient, outer.device)
        gradient = broadcast.spread(gradient, draft.impl(i).length)
        counted = 1
    else:
        gradient = payloads.detached(gradient)
    new = draft.tensor(tensors.make(draft, gradient)).impl
    for _ in range(counted):
        draft.bump_version(new)
    draft.edit_meta(i).grad = new
    return None
