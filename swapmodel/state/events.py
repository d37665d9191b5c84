"""
What happens in a step that its heap does not remember?
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

from swapmodel.state.ids import TensorId

Path: TypeAlias = Literal["data", "swap", "assign", "replace", "copy", "direct"]
"""How a tensor got its new content."""

Role: TypeAlias = Literal["parameter", "gradient", "buffer"]
"""What a converted tensor is to its module."""


@frozen
class Fired:
    """A hook ran during a backward, or a weak reference called back."""

    hook: str
    """The label given when it was registered."""

    kind: Literal["tensor", "post-accumulate", "node", "weakref"]


@frozen
class Converted:
    """A module's tensor reached the choice of its path in a conversion."""

    tensor: TensorId
    """The object that was registered when the conversion came to it."""

    role: Role
    path: Path


Event: TypeAlias = Fired | Converted
