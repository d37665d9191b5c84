"""
Which start heaps and actions belong to one area of what torch does?

Each area runs every program of two of its actions, and of three representatives.
"""

from __future__ import annotations

from collections.abc import Callable

from swapmodel.conformance import (
    starts_of_conversions,
    starts_of_functions,
    starts_of_graphs,
    starts_of_modules,
    starts_of_optimizers,
    starts_of_weakrefs,
)
from swapmodel.conformance.starts_of_classes import class_scopes
from swapmodel.search.scope import Scope

AREAS: dict[str, Callable[[], tuple[Scope, ...]]] = {
    "classes": lambda: (*class_scopes(2), *class_scopes(3)),
    "conversions": lambda: (
        *starts_of_conversions.scopes(2),
        *starts_of_conversions.scopes(3),
    ),
    "functions": starts_of_functions.scopes,
    "graphs": starts_of_graphs.scopes,
    "modules": starts_of_modules.scopes,
    "optimizers": starts_of_optimizers.scopes,
    "weak references": starts_of_weakrefs.scopes,
}
"""The scopes of each area, by its name."""
