"""
What does a real optimizer hold, and at which places?
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def in_optimizer(optimizer: Any) -> Iterator[tuple[str, Any]]:
    """The tensors of an optimizer, by the path that leads from it to each."""
    for key, t in trained(optimizer):
        yield f"param_groups{key}", t
    for key, kept in state_of(optimizer):
        for name, t in kept.items():
            yield f"state{key}.{name}", t


def trained(optimizer: Any) -> Iterator[tuple[str, Any]]:
    """What an optimizer trains, by the number of its group and its own there."""
    for number, group in enumerate(optimizer.param_groups):
        for index, t in enumerate(group["params"]):
            yield f"[{number}][{index}]", t


def state_of(optimizer: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """
    The entries of `opt.state`, with the place of each key in the groups.

    Up to 2.3, `SGD` without momentum writes down that its momentum is `None`.
    """
    known = {id(t): key for key, t in trained(optimizer)}
    for one, entry in optimizer.state.items():
        kept = {name: t for name, t in entry.items() if t is not None}
        if kept or not entry:
            yield known[id(one)], kept
