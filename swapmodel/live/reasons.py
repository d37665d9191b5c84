"""
Why does the model decline to read something?
"""

from __future__ import annotations

from attrs import frozen


@frozen
class NotLifted(Exception):
    """Something stands in a live module of which the model knows nothing."""

    why: str
    """What it is, in words that fit many places."""

    place: str = ""
    """Where it stands, as a user would write it."""

    def __str__(self) -> str:
        return f"{self.why} @ {self.place}" if self.place else self.why
