"""
How does a person write an optimizer, and what it holds, in torch?
"""

from __future__ import annotations

import re

from swapmodel.state.optimizers import OptimizerKind

PARAMETERS = 'param_groups[0]["params"]'
"""The parameters of an optimizer, which has one group."""

STATE = re.compile(r"state\[(\d+)\]\.(\w+)")
"""A tensor of an optimizer's state, by the place of its key among the parameters."""

KINDS: dict[OptimizerKind, tuple[str, dict[str, float]]] = {
    "SGD": ("SGD", {"lr": 1.0}),
    "SGD-momentum": ("SGD", {"lr": 1.0, "momentum": 1.0}),
    "Adam": ("Adam", {"lr": 1.0, "eps": 1.0}),
}
"""The class of each kind in `torch.optim`, and how its update is made exact."""

OPTIMIZERS = {
    kind: f"torch.optim.{name}({{m}}.parameters(), "
    + ", ".join(f"{option}={value}" for option, value in options.items())
    + ")"
    for kind, (name, options) in KINDS.items()
}
"""How each kind of optimizer is made."""


def inside_optimizer(optimizer: str, name: str) -> str:
    """What stands behind the dot for a part of a place that leads into an optimizer."""
    kept = STATE.fullmatch(name)
    if kept:
        return f'state[{optimizer}.{PARAMETERS}[{kept[1]}]]["{kept[2]}"]'
    return name.replace("param_groups[0][", f"{PARAMETERS}[")
