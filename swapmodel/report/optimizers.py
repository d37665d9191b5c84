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

OPTIMIZERS: dict[OptimizerKind, str] = {
    "SGD": "torch.optim.SGD({m}.parameters(), lr=1.0)",
    "SGD-momentum": "torch.optim.SGD({m}.parameters(), lr=1.0, momentum=1.0)",
    "Adam": "torch.optim.Adam({m}.parameters(), lr=1.0, eps=1.0)",
}
"""How each kind of optimizer is made."""


def inside_optimizer(optimizer: str, name: str) -> str:
    """What stands behind the dot for a part of a place that leads into an optimizer."""
    kept = STATE.fullmatch(name)
    if kept:
        return f'state[{optimizer}.{PARAMETERS}[{kept[1]}]]["{kept[2]}"]'
    return name.replace("param_groups[0][", f"{PARAMETERS}[")
