"""
What PyTorch does to tensors when a module is converted, loaded or swapped.

Reading order: state, conversions, actions, outcomes, semantics, invariants, run,
search, specfiles, report, check, necessity, commands, conformance, cli
"""

__version__ = "0.1.0"
