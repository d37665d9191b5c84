"""
What does an optimizer refer to, and what do `step` and `zero_grad` do to that?

Steps are exact modulo 8: the learning rate is one, and momentum one where there is
some.
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import broadcast, edges, payloads, tensors
from swapmodel.semantics.adam import adam
from swapmodel.semantics.optimizer_state import (
    OTHER_FORM,
    entry_of,
    fits,
    gradient_of,
    held_by,
    keep,
)
from swapmodel.semantics.payloads import FLOATING, Dense, Payload, Wrapped
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Columns, living
from swapmodel.state.ids import ModuleId, OptimizerId, TensorId
from swapmodel.state.optimizers import Optimizer, OptimizerKind

_COVERED = tuple(tensor_class(one) for one in ("Tensor", "Parameter", "TwoTensor"))


def make(draft: Draft, kind: OptimizerKind, m: ModuleId) -> OptimizerId | Stop:
    """
    `torch.optim.SGD(m.parameters(), lr=1)` and the like.

    Refuses no parameters, and one that a graph computed if it retains no gradient.
    Source:    `torch.optim.Optimizer.add_param_group`.
    """
    found = tuple(dict.fromkeys(_parameters(draft, m, set())))
    if not found:
        # [optimizer/empty]
        return Refusal("optimizer/empty")
    for t in found:
        if tensor_class(draft.tensor(t).cls).uninitialized:
            return Unmodelled("an optimizer of uninitialized parameters")
        # [optimizer/non-leaf]
        refusal = Refusal("optimizer/non-leaf")
        stop = edges.unless_leaf(draft, t, refusal)
        if stop is not None and not (stop == refusal and draft.meta_of(t).retains_grad):
            return stop
    return draft.add_optimizer(Optimizer(kind=kind, parameters=found))


def _parameters(state: Columns, m: ModuleId, seen: set[ModuleId]) -> Iterator[TensorId]:
    """`m.parameters()`: its own first, then those of its children."""
    if m in seen:
        return
    seen.add(m)
    module = state.module(m)
    yield from (t for _, t in module.parameters if t is not None)
    for _, child in module.children:
        yield from _parameters(state, child, seen)


# -- A step --------------------------------------------------------------------------


def step(draft: Draft, o: OptimizerId) -> Stop | None:
    """`opt.step()`: every parameter that has a gradient, in order."""
    optimizer = draft.optimizer(o)
    graded = [t for t in optimizer.parameters if draft.grad_of(t) is not None]
    for t in graded:
        stop = _unlike(draft, t)
        if stop is not None:
            return stop
    if optimizer.kind == "Adam":
        return adam(draft, o, graded)
    return _sgd(draft, o, graded, momentum=optimizer.kind == "SGD-momentum")


def _unlike(draft: Draft, t: TensorId) -> Stop | None:
    """Decline what the arithmetic of a step does not cover."""
    grad = draft.grad_of(t)
    assert grad is not None
    for one in (t, grad):
        known = tensor_class(draft.tensor(one).cls)
        if known not in _COVERED or draft.impl_of(one).dtype not in FLOATING:
            return Unmodelled("a step with tensors of a class or dtype of its own")
    if draft.impl_of(t).python_key != draft.impl_of(grad).python_key:
        return Unmodelled("a step with a wrapper and a plain tensor")
    if draft.impl_of(t).length != draft.impl_of(grad).length:
        return Unmodelled("a step with a gradient of another size")
    if "meta" in (draft.impl_of(t).device, draft.impl_of(grad).device):
        return Unmodelled("a step without memory")
    i = draft.tensor(t).impl
    is_view = draft.meta(i).base is not None
    if is_view or any(meta.base == i for _, meta in living(draft.metas)):
        return Unmodelled("a step writes under a view")
    return None


def _sgd(
    draft: Draft, o: OptimizerId, graded: list[TensorId], *, momentum: bool
) -> Stop | None:
    """
    Subtract each gradient, or the sum of all gradients so far.

    A buffer that a refused step has made is not kept.  Source: `torch.optim.sgd`.
    """
    made: list[tuple[TensorId, TensorId]] = []
    if momentum:
        for t in graded:
            entry_of(draft, o, t)
    for t in graded:
        buffer = held_by(draft, o, t, "momentum_buffer") if momentum else None
        update = gradient_of(draft, t) if buffer is None else _added(draft, buffer, t)
        if isinstance(update, Stop):
            return update
        if momentum and buffer is None:
            made.append((t, tensors.make(draft, update)))
        stop = _subtract(draft, t, update)
        if stop is not None:
            return stop
    for t, buffer in made:
        keep(draft, o, t, (("momentum_buffer", buffer),))
    return None


def _added(draft: Draft, buffer: TensorId, t: TensorId) -> Payload | Stop:
    """`buffer.mul_(1).add_(t.grad)`: two writes, and the second one may be refused."""
    before = payloads.read(draft, buffer)
    if isinstance(before, Stop):
        return before
    draft.bump_version(draft.tensor(buffer).impl)
    update = gradient_of(draft, t)
    if isinstance(update, Stop):
        return update
    if not fits(before, update):
        return OTHER_FORM
    after = _into(before, broadcast.combine(before, update, payloads.add))
    tensors.write(draft, buffer, after)
    return after


def _subtract(draft: Draft, t: TensorId, update: Payload) -> Stop | None:
    """`t.add_(update, alpha=-1)`."""
    before = payloads.read(draft, t)
    if isinstance(before, Stop):
        return before
    if not fits(before, update):
        return OTHER_FORM
    after = broadcast.combine(before, update, lambda a, b: a - b)
    tensors.write(draft, t, _into(before, after))
    return None


def _into(before: Payload, after: Payload) -> Payload:
    """What a write leaves: every innermost tensor keeps its dtype."""
    if isinstance(before, Wrapped):
        assert isinstance(after, Wrapped)
        pairs = zip(before.inner, after.inner, strict=True)
        inner = tuple((name, _into(one, two)) for (name, one), (_, two) in pairs)
        return Wrapped(before.cls, inner)
    assert isinstance(after, Dense)
    return Dense(before.dtype, before.device, before.length, after.values)


# -- Gradients -----------------------------------------------------------------------


def zero_grad(draft: Draft, o: OptimizerId, *, set_to_none: bool) -> Stop | None:
    """`opt.zero_grad(set_to_none)`, of the tensors that it refers to."""
    for t in draft.optimizer(o).parameters:
        grad = draft.grad_of(t)
        if grad is None:
            continue
        if set_to_none:
            draft.edit_meta(draft.tensor(t).impl).grad = None
            continue
        if (
            draft.meta_of(grad).grad_fn is not None
            or draft.meta_of(grad).base is not None
        ):
            return Unmodelled("a gradient in a graph is set to zero")
        if draft.meta_of(grad).requires_grad:
            draft.edit_meta(draft.tensor(grad).impl).requires_grad = False
        payload = payloads.read(draft, grad)
        if isinstance(payload, Stop):
            return payload
        tensors.write(draft, grad, payloads.apply(payload, lambda one: 0))
    return None
