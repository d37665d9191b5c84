"""
What does an optimizer keep for a tensor, and what fits into what it keeps?
"""

from __future__ import annotations

from swapmodel.outcomes import Unmodelled
from swapmodel.semantics.payloads import FLOATING, Payload, Wrapped
from swapmodel.state.draft import Draft
from swapmodel.state.ids import OptimizerId, TensorId
from swapmodel.state.optimizers import StateEntry

OTHER_FORM = Unmodelled("a step with tensors of different forms")
"""Of another class, or of a size or dtype that a write in place cannot keep."""


def fits(before: Payload, update: Payload) -> bool:
    """
    Whether *update* can be taken into *before* in place, tensor by tensor.

    No size changes, nothing is an integer, and nothing moves to another device.
    """
    if isinstance(before, Wrapped):
        parts = dict(update.inner) if isinstance(update, Wrapped) else {}
        if isinstance(update, Wrapped) and before.cls != update.cls:
            return False
        return all(fits(one, parts.get(name, update)) for name, one in before.inner)
    if isinstance(update, Wrapped):
        return all(fits(before, one) for _, one in update.inner)
    if not {before.dtype, update.dtype} <= {*FLOATING}:
        return False
    return before.device == update.device and update.length in (1, before.length)


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
