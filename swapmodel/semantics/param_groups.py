"""
What does an optimizer refer to, in which groups?
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.outcomes import Refusal, Stop
from swapmodel.semantics import edges
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Columns
from swapmodel.state.ids import ModuleId, OptimizerId, TensorId
from swapmodel.state.optimizers import Optimizer, OptimizerKind, parameters


def make(draft: Draft, kind: OptimizerKind, m: ModuleId) -> OptimizerId | Stop:
    """
    `torch.optim.SGD(m.parameters(), lr=1)` and the like.

    Refuses no parameters, and one that a graph computed if it retains no gradient.
    Source: `torch.optim.Optimizer.__init__`.
    """
    found = _group(draft, m)
    if isinstance(found, Stop):
        return found
    if not found:
        # [optimizer/empty]
        return Refusal("optimizer/empty")
    return draft.add_optimizer(Optimizer(kind=kind, groups=(found,)))


def add_group(draft: Draft, o: OptimizerId, m: ModuleId) -> Stop | None:
    """
    `opt.add_param_group({"params": m.parameters()})`, which may be none.

    Refuses what it refuses when it is made, and a parameter that it trains already.
    Source: `torch.optim.Optimizer.add_param_group`.
    """
    found = _group(draft, m)
    if isinstance(found, Stop):
        return found
    optimizer = draft.edit_optimizer(o)
    if any(t in parameters(optimizer) for t in found):
        # [optimizer/two-groups]
        return Refusal("optimizer/two-groups")
    optimizer.groups = (*optimizer.groups, found)
    return None


def _group(draft: Draft, m: ModuleId) -> tuple[TensorId, ...] | Stop:
    found = tuple(dict.fromkeys(_parameters(draft, m, set())))
    for t in found:
        # [optimizer/non-leaf]
        refusal = Refusal("optimizer/non-leaf")
        stop = edges.unless_leaf(draft, t, refusal)
        if stop is not None and not (stop == refusal and draft.meta_of(t).retains_grad):
            return stop
    return found


def _parameters(state: Columns, m: ModuleId, seen: set[ModuleId]) -> Iterator[TensorId]:
    """`m.parameters()`: its own first, then those of its children."""
    if m in seen:
        return
    seen.add(m)
    module = state.module(m)
    yield from (t for _, t in module.parameters if t is not None)
    for _, child in module.children:
        yield from _parameters(state, child, seen)
