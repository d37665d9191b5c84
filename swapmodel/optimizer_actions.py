"""
What can a program do with an optimizer?
"""

from __future__ import annotations

from attrs import frozen

from swapmodel.named import Checked, ModulePlace, Name, OptimizerPlace
from swapmodel.state.optimizers import OptimizerKind


@frozen
class MakeOptimizer(Checked):
    """Make an optimizer of a module's parameters: `torch.optim.SGD(...)`, `Adam`."""

    kind: OptimizerKind
    module: ModulePlace
    name: Name


@frozen
class AddParamGroup(Checked):
    """Let an optimizer train a module's parameters too: `opt.add_param_group(...)`."""

    optimizer: OptimizerPlace
    module: ModulePlace


@frozen
class OptimizerStep(Checked):
    """Update what an optimizer refers to: `opt.step()`."""

    optimizer: OptimizerPlace


@frozen
class ZeroGrad(Checked):
    """Clear the gradients of what an optimizer refers to: `opt.zero_grad(...)`."""

    optimizer: OptimizerPlace
    set_to_none: bool = True
