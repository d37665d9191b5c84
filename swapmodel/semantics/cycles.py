"""
What will nobody ever collect?

Python's collector does not look at a gradient, so that a tensor to which its own
gradient leads back lives for ever once nothing else reaches it.
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.semantics.ownership import Reached
from swapmodel.state.autograd import NO_META
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Columns
from swapmodel.state.ids import ImplId, NodeId


def leaks(draft: Draft) -> bool:
    """Whether something that its own gradient leads back to is out of reach."""
    found = [
        ImplId(i)
        for i, meta in enumerate(draft.metas)
        if meta is not None and meta.grad is not None and _returns(draft, ImplId(i))
    ]
    if not found:
        return False
    reached = Reached(draft).tensors
    return any(draft.impl(i).pyobj not in reached for i in found)


def _returns(state: Columns, start: ImplId) -> bool:
    """Whether the gradient of *start* leads back to it."""
    grad = state.meta(start).grad
    assert grad is not None
    seen, nodes, todo = {grad}, set[NodeId](), [grad]
    while todo:
        for i in _led_to(state, todo.pop(), nodes):
            if i == start:
                return True
            if i not in seen:
                seen.add(i)
                todo.append(i)
    return False


def _led_to(state: Columns, i: ImplId, nodes: set[NodeId]) -> Iterator[ImplId]:
    for _, inner in state.tensor(state.impl(i).pyobj).inner:
        yield state.tensor(inner).impl
    meta = state.meta(i)
    if meta is NO_META:
        return
    for owned in (meta.grad, meta.base, *meta.replayed):
        if owned is not None:
            yield owned
    if meta.grad_fn is not None:
        yield from _held_by(state, meta.grad_fn, nodes)


def _held_by(state: Columns, start: NodeId, nodes: set[NodeId]) -> Iterator[ImplId]:
    todo = [start]
    while todo:
        n = todo.pop()
        if n in nodes:
            continue
        nodes.add(n)
        node = state.node(n)
        if node.variable is not None:
            yield node.variable
        yield from (saved.impl for saved in node.saved)
        todo += [edge for edge in node.edges if edge is not None]
