"""
What are the elements of a real tensor?
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import torch

from swapmodel.semantics.payloads import MODULUS


def elements(t: Any) -> list[float]:
    """The elements of the storage that *t* has, even if its class refuses to say."""
    found: list[Any]
    try:
        found = t.flatten().tolist() if t.dim() != 1 else t.tolist()
    except RuntimeError:
        found = window(t).tolist()
    # What the model computes is real, in a complex dtype too.
    return [one.real for one in found] if t.is_complex() else found


def is_large(values: list[float]) -> bool:
    """Whether one of them is not a value of the model."""
    return max(values, default=0) >= MODULUS or min(values, default=0) < 0


def whole(one: float) -> float:
    """An element as an integer; uninitialised memory can hold what is none."""
    return int(one) if isfinite(one) else one


def window(t: Any) -> Any:
    """Another tensor over what *t* covers, with nothing else in common."""
    covered = t.untyped_storage(), t.storage_offset(), (t.numel(),)
    return torch.empty(0, dtype=t.dtype, device=t.device).set_(*covered)
