"""
What do forward functions record, and what does backward do with it?
"""

from __future__ import annotations

from attrs import frozen

from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import payloads, tensors
from swapmodel.semantics.payloads import Dense, Payload, Wrapped
from swapmodel.state.autograd import Node, SavedVariable
from swapmodel.state.draft import Draft
from swapmodel.state.events import Fired
from swapmodel.state.heap import Columns
from swapmodel.state.ids import HooksId, ImplId, NodeId, TensorId


@frozen(kw_only=True)
class Function:
    """A forward function of the closed algebra."""

    node: str
    """`type(y.grad_fn).__name__`."""

    saves_input: bool = False
    frees: bool = True
    """Whether a second backward is refused, because it saved something."""


FUNCTIONS = {
    "scale": Function(node="MulBackward0"),
    "square": Function(node="PowBackward0", saves_input=True),
    "view": Function(node="ViewBackward0", frees=False),
}


ANOTHER_SIZE = Unmodelled("a gradient meets a tensor of another size")


def requires_grad(state: Columns, t: TensorId) -> bool:
    """`t.requires_grad`."""
    meta = state.meta_of(t)
    return meta.requires_grad or meta.grad_fn is not None


# -- Forward -----------------------------------------------------------------------


def forward(draft: Draft, function: str, t: TensorId) -> TensorId | Stop:
    """Compute a function of *t* and record the node that its backward needs."""
    payload = payloads.read(draft, t)
    if not isinstance(payload, Dense | Wrapped):
        return payload
    out = tensors.make(draft, _computed(function, payload))
    if requires_grad(draft, t):
        record(draft, function, t, payload, out)
    return out


def _computed(function: str, payload: Payload) -> Payload:
    if function == "scale":
        return payloads.apply(payload, lambda one: one * payloads.SCALE)
    assert function == "square"
    return payloads.apply(payload, lambda one: one * one)


def view(draft: Draft, t: TensorId) -> TensorId | Stop:
    """`t.view(-1)`: an alias that owns its base and sends it its gradient."""
    payload = payloads.outline(draft, t)
    if not isinstance(payload, Dense | Wrapped):
        return payload
    out = tensors.alias(draft, t, payload, draft.impl_of(t).counter)
    base = draft.meta_of(t).base
    meta = draft.edit_meta(draft.tensor(out).impl)
    meta.base = draft.tensor(t).impl if base is None else base
    if requires_grad(draft, t):
        record(draft, "view", t, payload, out)
    return out


def record(
    draft: Draft, function: str, t: TensorId, payload: Payload, out: TensorId
) -> None:
    """Make the node of *out*, with an edge to *t* and what it saves of it."""
    known = FUNCTIONS[function]
    impl = draft.impl_of(out)
    saved: tuple[SavedVariable, ...] = ()
    if known.saves_input:
        i = draft.tensor(t).impl
        version = draft.version(draft.impl(i).counter)
        ghost = payloads.leaves(payload)
        saved = (SavedVariable(impl=i, version=version, ghost_values=ghost),)
    edge = gradient_edge(draft, t)
    node = Node(
        name=known.node,
        function=function,
        dtype=impl.dtype,
        length=impl.length,
        edges=(edge,),
        saved=saved,
    )
    draft.edit_meta(draft.tensor(out).impl).grad_fn = draft.add_node(node)


def gradient_edge(draft: Draft, t: TensorId) -> NodeId:
    """
    The node that takes the gradient of *t*, made if there is none.

    Source: `torch.autograd.graph.get_gradient_edge`.
    """
    i = draft.tensor(t).impl
    meta = draft.meta(i)
    if meta.grad_fn is not None:
        return meta.grad_fn
    if meta.accumulator is not None:
        return meta.accumulator
    impl = draft.impl(i)
    node = draft.add_node(
        Node(
            name="AccumulateGrad",
            function="accumulate",
            dtype=impl.dtype,
            length=impl.length,
            variable=i,
        )
    )
    draft.edit_meta(i).accumulator = node
    return node


# -- Backward ----------------------------------------------------------------------


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
    if node.function == "view":
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
        new = draft.tensor(tensors.make(draft, gradient)).impl
        if given:
            draft.bump_version(new)
        draft.edit_meta(i).grad = new
        return None
    t = draft.impl(grad).pyobj
    before = payloads.read(draft, t)
    if not isinstance(before, Dense | Wrapped):
        return before
    if payloads.first(before).dtype not in payloads.PROMOTED:
        return Unmodelled("a gradient is added to integers")
    if payloads.first(before).length != payloads.first(gradient).length:
        return ANOTHER_SIZE
    tensors.write(draft, t, payloads.combine(before, gradient, payloads.add))
    return None


# -- Flags, gradients and hooks ------------------------------------------------------


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
