"""
Which invariants are there?  In the order in which reports list them.
"""

from __future__ import annotations

from swapmodel.invariants import of_heaps, of_runs, of_steps
from swapmodel.invariants.violation import Invariant

INVARIANTS: tuple[Invariant, ...] = (
    Invariant("identity", "step", of_steps.identity),
    Invariant("coherence", "heap", of_heaps.coherence),
    Invariant("values", "step", of_steps.values),
    Invariant("attributes", "step", of_steps.attributes),
    Invariant("hooks", "run", of_runs.hooks),
    Invariant("use-count", "step", of_steps.use_count),
    Invariant("graph", "run", of_runs.graph),
    Invariant("atomic-tensor", "step", of_steps.atomic_tensor),
    Invariant("atomic-module", "step", of_steps.atomic_module),
    Invariant("well-formed", "heap", of_heaps.well_formed),
)


def invariant(name: str) -> Invariant:
    """The invariant of that id; `KeyError` for an unknown one."""
    for one in INVARIANTS:
        if one.id == name:
            return one
    raise KeyError(name)
