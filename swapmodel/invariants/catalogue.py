"""
Which invariants are there?  In the order in which reports list them.
"""

from __future__ import annotations

from swapmodel.invariants import (
    of_gradients,
    of_heaps,
    of_memory,
    of_modules,
    of_runs,
    of_steps,
    of_structure,
    of_weakrefs,
)
from swapmodel.invariants.violation import Invariant

INVARIANTS: tuple[Invariant, ...] = (
    Invariant("identity", "step", of_modules.identity),
    Invariant("ties", "step", of_modules.ties),
    Invariant("observers", "step", of_modules.observers),
    Invariant("coherence", "heap", of_heaps.coherence),
    Invariant("values", "step", of_steps.values),
    Invariant("aliasing", "step", of_modules.aliasing),
    Invariant("gradient-kept", "step", of_gradients.gradient_kept),
    Invariant("gradient-fit", "run", of_gradients.gradient_fit),
    Invariant("parameter-kind", "step", of_modules.parameter_kind),
    Invariant("attributes", "step", of_modules.attributes),
    Invariant("hooks", "run", of_runs.hooks),
    Invariant("weakrefs", "step", of_weakrefs.weakrefs),
    Invariant("use-count", "step", of_steps.use_count),
    Invariant("graph", "run", of_runs.graph),
    Invariant("atomic-tensor", "step", of_steps.atomic_tensor),
    Invariant("atomic-module", "step", of_steps.atomic_module),
    Invariant("version", "step", of_memory.version),
    Invariant("training-kept", "run", of_runs.training_kept),
    Invariant("memory-safe", "run", of_memory.memory_safe),
    Invariant("well-formed", "heap", of_structure.well_formed),
)


def invariant(name: str) -> Invariant:
    """The invariant of that id; `KeyError` for an unknown one."""
    for one in INVARIANTS:
        if one.id == name:
            return one
    raise KeyError(name)
