"""
What does an optimizer hold: parameters, and state by parameter?
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from swapmodel.state.ids import TensorId
from swapmodel.state.record import record

OptimizerKind: TypeAlias = Literal["SGD", "SGD-momentum", "Adam"]
"""`SGD(lr=1)`, `SGD(lr=1, momentum=1)` and `Adam(lr=1, eps=1)`."""


@record
class StateEntry:
    """What an optimizer keeps for one parameter: `opt.state[p]`."""

    parameter: TensorId
    """The key, by identity: a Python object, whatever it stands for by now."""

    tensors: tuple[tuple[str, TensorId], ...] = ()
    """`momentum_buffer`, or `step`, `exp_avg` and `exp_avg_sq`, in that order."""


@record
class Optimizer:
    """A `torch.optim.Optimizer`; it refers to Python objects alone."""

    kind: OptimizerKind
    """Which update it makes."""

    groups: tuple[tuple[TensorId, ...], ...] = ()
    """`group["params"]` of each of `opt.param_groups`, in order."""

    state: tuple[StateEntry, ...] = ()
    """`opt.state`, made at a parameter's first step with a gradient."""


def parameters(optimizer: Optimizer) -> tuple[TensorId, ...]:
    """What an optimizer trains: the parameters of all its groups, each once."""
    return tuple([t for group in optimizer.groups for t in group])
