"""
What does an optimizer refer to, and what do `step` and `zero_grad` do to that?

Steps are exact modulo 8: the learning rate is one, and momentum one where there is
some.  What Adam computes is undefined; its references, dtypes and counters are not.
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import payloads, tensors
from swapmodel.semantics.payloads import Dense, Payload, Wrapped
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Columns, living
from swapmodel.state.ids import ModuleId, OptimizerId, TensorId
from swapmodel.state.optimizers import Optimizer, OptimizerKind, StateEntry

AVERAGES = ("exp_avg", "exp_avg_sq")

_FLOATING = ("float16", "bfloat16", "float32", "float64")
_COVERED = tuple(tensor_class(one) for one in ("Tensor", "Parameter", "TwoTensor"))


def make(draft: Draft, kind: OptimizerKind, m: ModuleId) -> OptimizerId | Stop:
    """
    `torch.optim.SGD(m.parameters(), lr=1)` and the like.

    Refuses no parameters, and one that a graph computed.  Source:
    `torch.optim.Optimizer.add_param_group`.
    """
    found = tuple(dict.fromkeys(_parameters(draft, m, set())))
    if not found:
        # [optimizer/empty]
        return Refusal("optimizer/empty")
    for t in found:
        if tensor_class(draft.tensor(t).cls).uninitialized:
            return Unmodelled("an optimizer of uninitialized parameters")
        if draft.meta_of(t).grad_fn is not None:
            # [optimizer/non-leaf]
            return Refusal("optimizer/non-leaf")
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
        return _adam(draft, o, graded)
    return _sgd(draft, o, graded, momentum=optimizer.kind == "SGD-momentum")


def _unlike(draft: Draft, t: TensorId) -> Stop | None:
    """Decline what the arithmetic of a step does not cover."""
    grad = draft.grad_of(t)
    assert grad is not None
    for one in (t, grad):
        known = tensor_class(draft.tensor(one).cls)
        if known not in _COVERED or draft.impl_of(one).dtype not in _FLOATING:
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


def _graded(draft: Draft, t: TensorId) -> Payload | Stop:
    grad = draft.grad_of(t)
    assert grad is not None
    return payloads.read(draft, grad)


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
            _entry(draft, o, t)
    for t in graded:
        update = _graded(draft, t)
        if not isinstance(update, Dense | Wrapped):
            return update
        if momentum:
            buffer = _held(draft, o, t, "momentum_buffer")
            if buffer is None:
                made.append((t, tensors.make(draft, update)))
            else:
                added = _added(draft, buffer, update)
                if not isinstance(added, Dense | Wrapped):
                    return added
                update = added
        stop = _subtract(draft, t, update)
        if stop is not None:
            return stop
    for t, buffer in made:
        _keep(draft, o, t, (("momentum_buffer", buffer),))
    return None


def _added(draft: Draft, buffer: TensorId, update: Payload) -> Payload | Stop:
    """`buffer.mul_(1).add_(update)`: two writes."""
    before = payloads.read(draft, buffer)
    if not isinstance(before, Dense | Wrapped):
        return before
    if payloads.first(before).length != payloads.first(update).length:
        return Unmodelled("a step with a gradient of another size")
    if isinstance(before, Wrapped) != isinstance(update, Wrapped):
        return Unmodelled("a step with a wrapper and a plain tensor")
    after = _into(before, payloads.combine(before, update, payloads.add))
    tensors.write(draft, buffer, after)
    draft.bump_version(draft.tensor(buffer).impl)
    return after


def _subtract(draft: Draft, t: TensorId, update: Payload) -> Stop | None:
    """`t.add_(update, alpha=-1)`."""
    before = payloads.read(draft, t)
    if not isinstance(before, Dense | Wrapped):
        return before
    if isinstance(before, Wrapped) != isinstance(update, Wrapped):
        return Unmodelled("a step with a wrapper and a plain tensor")
    after = payloads.combine(before, update, lambda a, b: a - b)
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


def _adam(draft: Draft, o: OptimizerId, graded: list[TensorId]) -> Stop | None:
    """
    Make what is missing for all, then update one after the other.

    A counter has counted when the averages refuse a gradient of another dtype.
    Source: `torch.optim.adam`.
    """
    for t in graded:
        if not _entry(draft, o, t):
            payload = payloads.outline(draft, t)
            if not isinstance(payload, Dense | Wrapped):
                return payload
            step = tensors.make(draft, Dense("float32", "cpu", 1, (0,)))
            zeros = payloads.apply(payloads.ones(payload), lambda one: 0)
            kept = [(name, tensors.make(draft, zeros)) for name in AVERAGES]
            _keep(draft, o, t, (("step", step), *kept))
    for t in graded:
        stop = _adam_of(draft, o, t)
        if stop is not None:
            return stop
    return None


def _adam_of(draft: Draft, o: OptimizerId, t: TensorId) -> Stop | None:
    entry = dict(_entry(draft, o, t))
    count = payloads.read(draft, entry["step"])
    assert isinstance(count, Dense)
    tensors.write(draft, entry["step"], payloads.apply(count, lambda one: one + 1))
    gradient = _graded(draft, t)
    average = payloads.read(draft, entry["exp_avg"])
    if not isinstance(gradient, Dense | Wrapped):
        return gradient
    assert isinstance(average, Dense | Wrapped)
    if isinstance(average, Wrapped) != isinstance(gradient, Wrapped):
        return Unmodelled("a step with a wrapper and a plain tensor")
    pairs = zip(_dtypes(average), _dtypes(gradient), strict=True)
    differing = [(a, b) for a, b in pairs if a != b]
    if differing and isinstance(average, Wrapped):
        return Unmodelled("a wrapper's averages of another dtype than its gradient")
    if differing:
        # [optimizer/state-dtype] What was made before a cast is not cast.
        facts = (("dtype", differing[0][1]), ("expected", differing[0][0]))
        return Refusal("optimizer/state-dtype", facts=facts)
    for one, writes in ((entry["exp_avg"], 1), (entry["exp_avg_sq"], 2), (t, 1)):
        payload = payloads.read(draft, one)
        if not isinstance(payload, Dense | Wrapped):
            return payload
        for _ in range(writes):
            tensors.write(draft, one, _undefined(payload))
    return None


def _dtypes(payload: Payload) -> list[str]:
    if isinstance(payload, Dense):
        return [payload.dtype]
    return [dtype for _, one in payload.inner for dtype in _dtypes(one)]


def _undefined(payload: Payload) -> Payload:
    if isinstance(payload, Wrapped):
        inner = tuple((name, _undefined(one)) for name, one in payload.inner)
        return Wrapped(payload.cls, inner)
    return Dense(payload.dtype, payload.device, payload.length, None)


# -- State by object -----------------------------------------------------------------


def _entry(
    draft: Draft, o: OptimizerId, t: TensorId
) -> tuple[tuple[str, TensorId], ...]:
    """`opt.state[t]`, which makes an empty entry where there is none."""
    state = draft.optimizer(o).state
    for one in state:
        if one.parameter == t:
            return one.tensors
    draft.edit_optimizer(o).state = (*state, StateEntry(parameter=t))
    return ()


def _held(draft: Draft, o: OptimizerId, t: TensorId, name: str) -> TensorId | None:
    return dict(_entry(draft, o, t)).get(name)


def _keep(
    draft: Draft, o: OptimizerId, t: TensorId, held: tuple[tuple[str, TensorId], ...]
) -> None:
    optimizer = draft.edit_optimizer(o)
    optimizer.state = tuple(
        StateEntry(parameter=t, tensors=held) if one.parameter == t else one
        for one in optimizer.state
    )


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
        if not isinstance(payload, Dense | Wrapped):
            return payload
        tensors.write(draft, grad, payloads.apply(payload, lambda one: 0))
    return None
