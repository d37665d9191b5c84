"""
What does an optimizer keep for a tensor, and what fits into what it keeps?
"""

from __future__ import annotations

from swapmodel.outcomes import Stop, Unmodelled
from swapmodel.semantics import payloads
from swapmodel.semantics.payloads import FLOATING, Payload, Wrapped
from swapmodel.state.draft import Draft
from swapmodel.state.ids import OptimizerId, TensorId
from swapmodel.state.optimizers import StateEntry

OTHER_FORM = Unmodelled("a step with tensors of different forms")
"""Of another class, or of a size or dtype that a write in place cannot keep."""


def gradient_of(draft: Draft, t: TensorId) -> Payload | Stop:
    """Read `t.grad`, which is there."""
    grad = draft.grad_of(t)
    assert grad is not None
    return payloads.read(draft, grad)


def fits(before: Payload, update: Payload) -> bool:
    """
    Whether *update* can be added in place, tensor by tensor.

    Nothing grows, no integers take floats, and nothing moves to another device.
    """
    if isinstance(before, Wrapped):
        if not isinstance(update, Wrapped) or before.cls != update.cls:
            return False
        pairs = zip(before.inner, update.inner, strict=True)
        return all(fits(one, two) for (_, one), (_, two) in pairs)
    if isinstance(update, Wrapped) or before.dtype not in FLOATING:
        return False
    return before.device == update.device and before.length >= update.length


# -- State by object -----------------------------------------------------------------


def entry_of(
    draft: Draft, o: OptimizerId, t: TensorId
) -> tuple[tuple[str, TensorId], ...]:
    """`opt.state[t]`, which makes an empty entry where there is none."""
    state = draft.optimizer(o).state
    for one in state:
        if one.parameter == t:
            return one.tensors
    draft.edit_optimizer(o).state = (*state, StateEntry(parameter=t))
    return ()


def held_by(draft: Draft, o: OptimizerId, t: TensorId, name: str) -> TensorId | None:
    """`opt.state[t].get(name)`."""
    return dict(entry_of(draft, o, t)).get(name)


def keep(
    draft: Draft, o: OptimizerId, t: TensorId, held: tuple[tuple[str, TensorId], ...]
) -> None:
    """`opt.state[t] = held`, of an entry that is there."""
    optimizer = draft.edit_optimizer(o)
    optimizer.state = tuple(
        StateEntry(parameter=t, tensors=held) if one.parameter == t else one
        for one in optimizer.state
    )
