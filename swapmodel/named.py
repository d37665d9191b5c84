"""
How does an action name what it is about?
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

Place: TypeAlias = Annotated[str, "tensor"]
"""A variable (`w`) or a path from one (`m.weight`, `m.weight.grad`, `w.a`)."""

ModulePlace: TypeAlias = Annotated[str, "module"]
"""A place where a module must stand when the action runs."""

OptimizerPlace: TypeAlias = Annotated[str, "optimizer"]
"""A variable that holds an optimizer."""

Name: TypeAlias = str
"""A variable that an action assigns, or a label."""
