"""
What PyTorch does to tensors when a module is converted or they are swapped.

Reading order: state, named, graph_actions, conversions, optimizer_actions, actions,
outcomes, semantics, invariants, run, search, specfiles, report, check, necessity,
conformance, live, commands, cli
"""

__version__ = "0.1.0"
