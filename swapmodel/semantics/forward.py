"""
Which functions are there, and what do they record for backward?
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import broadcast, payloads, spec, tensors
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.semantics.edges import gradient_edge
from swapmodel.semantics.payloads import COMPLEX, Payload
from swapmodel.semantics.spec import Frame, phase
from swapmodel.state.autograd import RESULT, Node, SavedVariable
from swapmodel.state.draft import Draft
from swapmodel.state.ids import NodeId, TensorId

spec.operation("view", "target", "out")


@frozen(kw_only=True)
class Function:
    """A forward function of the closed algebra."""

    node: str
    """`type(y.grad_fn).__name__`."""

    computes: Callable[[int], int] = int
    """What it makes of one element, before that is brought below the modulus."""

    saves: int | None = None
    """The operand that it saves, or `RESULT`; a product decides by its edges."""

    constant: bool = False
    """Whether it saves a constant, if its operand has an edge."""


FUNCTIONS = {
    "scale": Function(
        node="MulBackward0", computes=lambda one: one * payloads.SCALE, constant=True
    ),
    "square": Function(node="PowBackward0", computes=lambda one: one * one, saves=0),
    "relu": Function(node="ReluBackward0", saves=RESULT),
    "product": Function(node="MulBackward0"),
    "view": Function(node="ViewBackward0"),
    "alias": Function(node="AliasBackward0"),
    "to-copy": Function(node="ToCopyBackward0"),
}


def forward(
    draft: Draft, function: str, t: TensorId, grad_mode: bool
) -> TensorId | Stop:
    """Compute a function of *t* and record the node that its backward needs."""
    payload = payloads.read(draft, t)
    if isinstance(payload, Stop):
        return payload
    if function == "relu" and payloads.first(payload).dtype in COMPLEX:
        return Unmodelled("the relu of a complex tensor")
    computed = payloads.apply(payload, FUNCTIONS[function].computes)
    edges = _differentiable_edges(draft, (t,), grad_mode, computed)
    if edges is not None and not isinstance(edges, tuple):
        return edges
    out = tensors.make(draft, computed)
    record(draft, function, (t,), edges, out)
    return out


def product(draft: Draft, t: TensorId, u: TensorId, grad_mode: bool) -> TensorId | Stop:
    """`t * u`, of the dtype that both are promoted to."""
    other = payloads.beside(draft, u, payloads.read(draft, t))
    one = payloads.beside(draft, t, other)
    if isinstance(one, Stop):
        return one
    assert not isinstance(other, Stop)
    sizes = broadcast.sizes(one, other)
    if sizes is not None and (payloads.on_meta(one) or payloads.on_meta(other)):
        return broadcast.ON_META
    devices = broadcast.devices(one, other)
    if devices is not None:
        # [forward/device]
        return Refusal("forward/device", facts=devices)
    if sizes is not None:
        # [forward/size]
        return Refusal("forward/size", facts=sizes)
    computed = broadcast.combine(one, other, payloads.multiply)
    edges = _differentiable_edges(draft, (t, u), grad_mode, computed)
    if edges is not None and not isinstance(edges, tuple):
        return edges
    mixed = len({payloads.first(each).dtype in COMPLEX for each in (one, other)}) > 1
    if mixed and edges is not None:
        return Unmodelled("a graph that leads from a complex tensor to a real one")
    out = tensors.make(draft, computed)
    record(draft, "product", (t, u), edges, out)
    return out


def view(draft: Draft, frame: Frame, t: TensorId, grad_mode: bool) -> TensorId | Stop:
    """`t.view(-1)`: an alias that owns its base and sends it its gradient."""
    payload = payloads.outline(draft, t)
    if isinstance(payload, Stop):
        return payload
    edges = _differentiable_edges(draft, (t,), grad_mode, payload)
    if edges is not None and not isinstance(edges, tuple):
        return edges
    out = tensors.alias(draft, t, payload, draft.impl_of(t).counter)
    tensors.become_view(draft, out, t, grad_mode=grad_mode)
    call = Frame(frame.spec)
    call.target, call.out = t, out
    for one in frame.spec.phases("view"):
        # Nobody is told: what it keeps shows only once the view is stale.
        assert one.run(draft, call) is None
    record(draft, "view", (t,), edges, out)
    return out


@phase("keep-views", "view", reads=("target", "out"))
def keep_views(draft: Draft, frame: Frame) -> Stop | None:
    """
    Keep every tensor between a view of a wrapper and its base, to view them again.

    Without that a stale view is made again as if it had memory.  Source:
    `ViewInfo::has_view_fn`, pytorch#116512.
    """
    i, viewed = draft.tensor(frame.target).impl, draft.meta_of(frame.target)
    if draft.impl(i).python_key:
        meta = draft.edit_meta(draft.tensor(frame.out).impl)
        meta.replayed = (*viewed.replayed, i)
    return None


# -- The graph ---------------------------------------------------------------------

Edges = tuple[NodeId | None, ...]


def recorded_edges(
    draft: Draft, operands: tuple[TensorId, ...], grad_mode: bool
) -> Edges | Stop | None:
    """The edges of a function that is to be recorded, or `None` if it is not."""
    if not (grad_mode and any(requires_grad(draft, t) for t in operands)):
        return None
    found: list[NodeId | None] = []
    for t in operands:
        edge = gradient_edge(draft, t)
        if isinstance(edge, Stop):
            return edge
        found.append(edge)
    return tuple(found)


def _differentiable_edges(
    draft: Draft, operands: tuple[TensorId, ...], grad_mode: bool, result: Payload
) -> Edges | Stop | None:
    """
    The edges of a function that makes *result*, which integers cannot have.

    A wrapper's dtype can be another one than that of what it wraps.
    """
    edges = recorded_edges(draft, operands, grad_mode)
    dtype = payloads.first(result).dtype
    if isinstance(edges, tuple) and dtype not in payloads.DIFFERENTIABLE:
        # [forward/dtype]
        return Refusal("forward/dtype", facts=(("dtype", dtype),))
    return edges


def record(
    draft: Draft,
    function: str,
    operands: tuple[TensorId, ...],
    edges: Edges | None,
    out: TensorId,
) -> None:
    """Make the node of *out*, with its edges and what it saves, if it is to be."""
    if edges is None:
        return
    known, impl = FUNCTIONS[function], draft.impl_of(out)
    node = Node(
        name=known.node,
        function=function,
        dtype=impl.dtype,
        length=impl.length,
        device=impl.device,
        edges=edges,
        saved=_saved(draft, function, operands, edges, out),
        constant=known.constant and edges[0] is not None,
    )
    draft.edit_meta(draft.tensor(out).impl).grad_fn = draft.add_node(node)


def _saved(
    draft: Draft,
    function: str,
    operands: tuple[TensorId, ...],
    edges: Edges,
    out: TensorId,
) -> tuple[SavedVariable, ...]:
    if function == "product":
        # Each is saved for the other's gradient, and the second one is read first.
        return tuple(
            _save(draft, operands[one], one)
            for one, other in ((1, 0), (0, 1))
            if edges[other] is not None
        )
    saves = FUNCTIONS[function].saves
    if saves is None:
        return ()
    if saves != RESULT:
        return (_save(draft, operands[saves], saves),)
    # What a function gave is saved without its node, so that no cycle comes of it.
    payload = payloads.outline(draft, out)
    assert not isinstance(payload, Stop)
    result = tensors.alias(draft, out, payload, draft.impl_of(out).counter)
    return (_save(draft, result, RESULT),)


def _save(draft: Draft, t: TensorId, operand: int) -> SavedVariable:
    i = draft.tensor(t).impl
    payload = payloads.read(draft, t)
    assert not isinstance(payload, Stop)
    return SavedVariable(
        impl=i,
        operand=operand,
        version=draft.version(draft.impl(i).counter),
        ghost_values=payloads.leaves(payload),
    )
