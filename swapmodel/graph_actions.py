"""
What can a program do with graphs, gradients and hooks?
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

from swapmodel.named import Checked, Name, Place

HookKind: TypeAlias = Literal["tensor", "post-accumulate", "node"]
"""When a hook fires: a gradient arrives, it is accumulated, a node has run."""


@frozen
class FillGrad(Checked):
    """Give a tensor a fresh gradient of ones: `t.grad = torch.ones_like(t)`."""

    t: Place


@frozen
class ClearGrad(Checked):
    """Take a tensor's gradient away: `t.grad = None`."""

    t: Place


@frozen
class SetGrad(Checked):
    """Give a tensor another one as its gradient: `t.grad = u`."""

    t: Place
    u: Place


@frozen
class RequiresGrad(Checked):
    """Set a tensor's flag: `t.requires_grad_(value)`."""

    t: Place
    value: bool = True


@frozen
class RetainGrad(Checked):
    """Have backward keep the gradient of a non-leaf: `t.retain_grad()`."""

    t: Place


@frozen
class Write(Checked):
    """Write a tensor in place under `no_grad`: `t.add_(1)`."""

    t: Place


@frozen
class Forward(Checked):
    """
    Compute a function of the closed algebra and keep its output: `y = f(t)`.

    Without *grad_mode* it runs under `no_grad`.
    """

    function: Literal["scale", "square", "relu"]
    t: Place
    name: Name
    grad_mode: bool = True


@frozen
class Product(Checked):
    """Multiply two tensors and keep the output: `y = t * u`."""

    t: Place
    u: Place
    name: Name
    grad_mode: bool = True


@frozen
class Backward(Checked):
    """Run backward from a tensor: `t.backward(torch.ones_like(t))`."""

    t: Place


@frozen
class View(Checked):
    """Keep a view of a tensor: `v = t.view(-1)`."""

    t: Place
    name: Name
    grad_mode: bool = True


@frozen
class Detach(Checked):
    """Keep an alias of a tensor that is in no graph: `d = t.detach()`."""

    t: Place
    name: Name


@frozen
class RegisterHook(Checked):
    """
    Register a hook on a tensor, or on the node that its gradient goes to.

    `t.register_hook(...)`, `t.register_post_accumulate_grad_hook(...)` or
    `torch.autograd.graph.get_gradient_edge(t).node.register_hook(...)`.
    """

    t: Place
    label: Name
    kind: HookKind = "tensor"


GRAPH_ACTIONS = (
    FillGrad,
    ClearGrad,
    SetGrad,
    RequiresGrad,
    RetainGrad,
    Write,
    Backward,
    RegisterHook,
)
"""Those that assign no variable."""
