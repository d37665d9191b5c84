"""
What does the release of torch that is here have, of what came and went?
"""

from __future__ import annotations

from typing import Any

import torch

from swapmodel.actions import Action, SetFlag
from swapmodel.state.heap import Heap

_BUFFER = getattr(torch.nn, "Buffer", None)
_USE_COUNT = getattr(torch.Tensor, "_use_count", None)


def release() -> str:
    """The release that is here, as specs name it."""
    return str(torch.__version__).partition("+")[0]


def has_flag(name: str) -> bool:
    """Whether this release has a switch; that for swaps came with 2.3."""
    return hasattr(torch.__future__, f"set_{name}_module_params_on_conversion")


def flag(name: str) -> bool:
    """Whether a switch is on; one that is not there is off."""
    read = getattr(torch.__future__, f"get_{name}_module_params_on_conversion", None)
    return read is not None and bool(read())


def has_buffers() -> bool:
    """Whether there is a class `torch.nn.Buffer`, which came with 2.5."""
    return _BUFFER is not None


def is_buffer(t: Any) -> bool:
    """Whether a tensor is a `torch.nn.Buffer`."""
    return _BUFFER is not None and isinstance(t, _BUFFER)


def use_count(t: Any) -> int | None:
    """What `t._use_count()` says, which came with 2.4."""
    return None if _USE_COUNT is None else _USE_COUNT(t)


def unseen() -> tuple[str, ...]:
    """The columns of a row that this release cannot show."""
    return ("_use_count()",) if _USE_COUNT is None else ()


def lacks(one: Action | Heap) -> str | None:
    """What this release lacks for an action or a start heap, if anything."""
    wanted = one.flags.swap if isinstance(one, Heap) else False
    if isinstance(one, SetFlag):
        wanted = one.flag == "swap"
    if wanted and not has_flag("swap"):
        return f"torch {release()} has no switch for swaps"
    return None
