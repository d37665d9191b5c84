"""
Which functions are there, and what do they record for backward?
"""

from __future__ import annotations

from attrs import frozen

from swapmodel.outcomes import Stop
from swapmodel.semantics import payloads, tensors
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.semantics.payloads import Dense, Payload, Wrapped
from swapmodel.state.autograd import Node, SavedVariable
from swapmodel.state.draft import Draft
from swapmodel.state.ids import NodeId, TensorId


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
    "alias": Function(node="AliasBackward0", frees=False),
}


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
