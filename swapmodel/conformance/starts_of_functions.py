"""
Where do programs start that apply every function of a conversion to every class?
"""

from __future__ import annotations

from swapmodel.actions import Action, Backward, Convert, Forward
from swapmodel.conformance.starts_of_classes import class_scopes
from swapmodel.conformance.starts_of_conversions import FUNCTIONS, REPRESENTATIVES
from swapmodel.search.scope import Scope


def scopes() -> tuple[Scope, ...]:
    """Each function once, and two of the representatives one after the other."""
    return (*_scopes(1), *_scopes(2))


def _scopes(depth: int) -> tuple[Scope, ...]:
    functions = FUNCTIONS if depth == 1 else REPRESENTATIVES
    converted: tuple[Action, ...] = tuple(Convert("m", fn) for fn in functions)
    graph: tuple[Action, ...] = (Forward("square", "m.weight", "y"), Backward("y"))
    return tuple(
        Scope(
            id=f"functions-{scope.id.removeprefix('class-')}",
            starts=scope.starts,
            actions=(*converted, *graph),
            depth=depth,
        )
        for scope in class_scopes(2)
    )
