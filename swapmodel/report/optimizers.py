"""
How does a person write an optimizer, and what it holds, in torch?
"""

from __future__ import annotations

import re

from swapmodel.state.optimizers import OptimizerKind

PARAMETER = re.compile(r"param_groups\[(\d+)\]\[(\d+)\]")
STATE = re.compile(r"state\[(\d+)\]\[(\d+)\]\.(\w+)")
"""A tensor of an optimizer's state, by the group and the number of its key."""

LISTED = 'param_groups[{0}]["params"][{1}]'
"""How a parameter of an optimizer is read."""

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
    if found := PARAMETER.fullmatch(name):
        return LISTED.format(*found.groups())
    if found := STATE.fullmatch(name):
        key = f"{optimizer}.{LISTED.format(*found.groups())}"
        return f'state[{key}]["{found[3]}"]'
    return name
