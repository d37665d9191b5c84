"""
What do `step` and `zero_grad` do to what an optimizer refers to?

Steps are exact modulo 8: the learning rate is one, and momentum one where there is
some.
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import methods, payloads, tensors, writes
from swapmodel.semantics.adam import adam
from swapmodel.semantics.methods import lazy
from swapmodel.semantics.optimizer_state import entry_of, held_by, keep
from swapmodel.semantics.payloads import DIFFERENTIABLE
from swapmodel.state.draft import Draft
from swapmodel.state.ids import OptimizerId, TensorId
from swapmodel.state.optimizers import parameters


def step(draft: Draft, o: OptimizerId) -> Stop | None:
    """`opt.step()`: one group after the other, what has a gradient in it in order."""
    optimizer = draft.optimizer(o)
    for group in optimizer.groups:
        graded = [t for t in group if draft.grad_of(t) is not None]
        if optimizer.kind == "Adam":
            stop = adam(draft, o, graded)
        else:
            momentum = optimizer.kind == "SGD-momentum"
            stop = _sgd(draft, o, graded, momentum=momentum)
        if stop is not None:
            return stop
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
        update = draft.grad_of(t)
        assert update is not None
        if momentum:
            found = held_by(draft, o, t, "momentum_buffer")
            buffer = _momentum(draft, update, found)
            if isinstance(buffer, Stop):
                return buffer
            if found is None:
                made.append((t, buffer))
            update = buffer
        stop = _added(draft, t, update, writes.SUBTRACT)
        if stop is not None:
            return stop
    for t, buffer in made:
        keep(draft, o, t, (("momentum_buffer", buffer),))
    return None


def _momentum(
    draft: Draft, gradient: TensorId, buffer: TensorId | None
) -> TensorId | Stop:
    """
    `torch.clone(gradient).detach()`, or `buffer.mul_(1).add_(gradient)`.

    These are two writes, and the second one may be refused.
    """
    if buffer is None:
        return _clone(draft, gradient)
    stop = lazy(draft, buffer) or _kept(draft, buffer)
    if stop is not None:
        return stop
    draft.bump_version(draft.tensor(buffer).impl)
    return _added(draft, buffer, gradient, writes.ADD) or buffer


def _kept(draft: Draft, buffer: TensorId) -> Stop | None:
    """`buffer.mul_(1.0)`, which integers refuse."""
    before = payloads.read(draft, buffer)
    if isinstance(before, Stop):
        return before
    for one in payloads.dense(before):
        if one.dtype not in DIFFERENTIABLE and one.device != "meta":
            # [add/dtype]
            facts = (("dtype", "float32"), ("expected", one.dtype))
            return Refusal("add/dtype", facts=facts)
    return None


def _clone(draft: Draft, t: TensorId) -> TensorId | Stop:
    """`torch.clone(t).detach()`, each as the class of *t* gives it."""
    refusal = lazy(draft, t)
    if refusal is not None:
        return refusal
    payload = payloads.read(draft, t)
    if isinstance(payload, Stop):
        return payload
    copied = tensors.make(draft, payload)
    copied_as = methods.returned(draft, t, copied, grad_mode=False)
    assert not isinstance(copied_as, Stop), "a copy of a tensor is of its form"
    detached = tensors.detach(draft, copied_as)
    return methods.returned(draft, t, detached, grad_mode=False)


def _added(
    draft: Draft, t: TensorId, other: TensorId, how: writes.InPlace
) -> Stop | None:
    """`t.add_(other)`, or the like, of which the class of either can know nothing."""
    refusal = lazy(draft, t, other)
    if refusal is not None:
        return refusal
    payload = payloads.read(draft, other)
    if isinstance(payload, Stop):
        return payload
    return writes.add_in_place(draft, t, payload, how)


# -- Gradients -----------------------------------------------------------------------


def zero_grad(draft: Draft, o: OptimizerId, *, set_to_none: bool) -> Stop | None:
    """`opt.zero_grad(set_to_none)`, of the tensors that it refers to."""
    for t in parameters(draft.optimizer(o)):
        grad = draft.grad_of(t)
        if grad is None:
            continue
        if set_to_none:
            draft.edit_meta(draft.tensor(t).impl).grad = None
            continue
        stop = _to_zero(draft, grad)
        if stop is not None:
            return stop
    return None


def _to_zero(draft: Draft, grad: TensorId) -> Stop | None:
    """`grad.requires_grad_(False)` and `grad.zero_()`."""
    meta = draft.meta_of(grad)
    if meta.grad_fn is not None or meta.base is not None:
        return Unmodelled("a gradient in a graph is set to zero")
    refusal = lazy(draft, grad)
    if refusal is not None:
        return refusal
    if meta.requires_grad:
        draft.edit_meta(draft.tensor(grad).impl).requires_grad = False
    payload = payloads.read(draft, grad)
    if isinstance(payload, Stop):
        return payload
    writes.write(draft, grad, payloads.apply(payload, lambda one: 0))
    return None
