"""
Who holds tensors by name?
"""

from __future__ import annotations

from swapmodel.state.ids import ModuleId, TensorId, WeakrefId
from swapmodel.state.record import record


@record
class Module:
    """An `nn.Module`: names for tensors and for other modules, in order."""

    cls: str = "Module"
    """`m._get_name()`, which a refusal's text cites."""

    parameters: tuple[tuple[str, TensorId | None], ...] = ()
    """`m._parameters`, in order of registration."""

    buffers: tuple[tuple[str, TensorId | None], ...] = ()
    """`m._buffers`, in order of registration."""

    children: tuple[tuple[str, ModuleId], ...] = ()
    """`m._modules`, in order of registration."""

    attributes: tuple[tuple[str, TensorId], ...] = ()
    """The tensors in `m.__dict__`, which no conversion looks at."""

    flat_weights_names: tuple[str, ...] = ()
    """`m._flat_weights_names` of an `RNNBase`: which of its weights it lists again."""

    flat_weights: tuple[TensorId | None, ...] = ()
    """`m._flat_weights` of an `RNNBase`: what its forward computes with."""

    flat_weight_refs: tuple[WeakrefId | None, ...] = ()
    """`m._flat_weight_refs` of an `RNNBase`, which owns these weak references."""


def held(module: Module) -> tuple[tuple[str, TensorId | None], ...]:
    """Every name of a module for a tensor or for none, as Python looks it up."""
    return (*module.attributes, *module.parameters, *module.buffers)


@record
class Flags:
    """The two switches of `torch.__future__` that choose a conversion's path."""

    swap: bool = False
    """`get_swap_module_params_on_conversion()`."""

    overwrite: bool = False
    """`get_overwrite_module_params_on_conversion()`."""
