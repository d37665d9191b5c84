"""
How is a live world walked?  As that of a program, and into slots as well.
"""

from __future__ import annotations

from typing import Any

from swapmodel.conformance.look import TorchReader
from swapmodel.live import holders


class LiveReader(TorchReader):
    """Real torch, with whatever a user's class keeps where."""

    def inner(self, t: Any) -> list[tuple[str, Any]]:
        """The tensors in `t.__dict__`, and those in slots."""
        return list(holders.parts(t))
