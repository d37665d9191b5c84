"""
Which live modules are tried?  Those by which torch tests its modules and tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from attrs import frozen

from swapmodel.conformance.perform import OPTIMIZERS


@frozen
class Sample:
    """One way to make a module."""

    kind: str
    """The class, as the table lists it."""

    number: int
    """Which one of its class."""

    make: Callable[[], Any]


def module_kinds() -> tuple[str, ...]:
    """The classes of modules of which torch's own tests make instances."""
    return tuple(_infos())


def tensor_kinds() -> tuple[str, ...]:
    """The classes of tensors of which torch's own tests make instances."""
    return tuple(_tensors())


@cache
def _infos() -> dict[str, Any]:
    from torch.testing._internal.common_modules import module_db

    return {info.name: info for info in module_db}


@cache
def _tensors() -> dict[str, Callable[[], Any]]:
    from torch.testing._internal.common_subclass import subclass_db
    from torch.testing._internal.two_tensor import TwoTensor

    made = {
        cls.__name__: partial(info.create_fn, SHAPE)
        for cls, info in subclass_db.items()
    }
    two = TwoTensor.__name__
    return made | {two: lambda: TwoTensor(torch.randn(SHAPE), torch.randn(SHAPE))}


SHAPE = (3,)
"""One size, of which every class of tensors can make something."""

ROLES = ("parameter", "frozen", "tied", "buffer")
"""What a tensor is to the module that is made around it."""


def samples(kind: str) -> tuple[Sample, ...]:
    """Every instance of a class that torch's own tests make."""
    if kind in _tensors():
        making = _tensors()[kind]
        around = [partial(_holding, making, role) for role in ROLES]
        return tuple([Sample(kind, n, make) for n, make in enumerate(around)])
    return _modules(kind)


def _holding(making: Callable[[], Any], role: str) -> Any:
    """A module that holds one tensor."""
    torch.manual_seed(0)
    module, t = torch.nn.Module(), making()
    if role == "buffer":
        module.register_buffer("held", t)
    else:
        module.held = torch.nn.Parameter(t, requires_grad=role != "frozen")
    if role == "tied":
        module.again = module.held
    return module


def _modules(kind: str) -> tuple[Sample, ...]:
    info = _infos()[kind]
    torch.manual_seed(0)
    inputs = info.module_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=False, training=True
    )
    makers = [_maker(info.module_cls, one.constructor_input) for one in inputs]
    return tuple([Sample(kind, number, make) for number, make in enumerate(makers)])


def _maker(cls: Any, given: Any) -> Callable[[], Any]:
    def make() -> Any:
        torch.manual_seed(0)
        return cls(*given.args, **given.kwargs)

    return make


def roots_of(module: Any, *, gradients: bool) -> dict[str, Any]:
    """
    A module with an optimizer, and a name for each of its tensors.

    With *gradients* every parameter has one, and the optimizer has made a step.
    """
    parameters = list(module.parameters())
    for t in parameters if gradients else ():
        if not isinstance(t, torch.nn.UninitializedParameter):
            t.grad = torch.ones_like(t)
    roots = {"m": module}
    if parameters:
        cls, options = OPTIMIZERS["Adam"]
        roots["opt"] = cls(parameters, **options)
        roots["opt"].step()
    grads = [t.grad for t in parameters if gradients and t.grad is not None]
    watched = (*parameters, *module.buffers(), *grads)
    return roots | {f"t{number}": t for number, t in enumerate(watched)}
