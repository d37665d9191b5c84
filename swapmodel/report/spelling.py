"""
How does a person write an action, a place and a value in torch?
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swapmodel import actions
from swapmodel.actions import Action
from swapmodel.outcomes import Refusal
from swapmodel.report.functions import conversion as conversion
from swapmodel.report.names import deleting, setting, variable
from swapmodel.report.names import dtype as dtype
from swapmodel.report.names import expression as expression
from swapmodel.report.optimizers import OPTIMIZERS
from swapmodel.semantics.payloads import SCALE
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.rules import rules
from swapmodel.specfiles.texts import text_of
from swapmodel.state.keepers import Keeper

FORWARD = {
    "scale": "{t} * " + str(SCALE),
    "square": "{t}.pow(2)",
    "relu": "{t}.relu()",
    "view": "{t}.view(-1)",
}
"""The forward functions of the algebra that have one operand."""

REGISTER = {
    "parameter": '{m}.register_parameter("{key}", {t})',
    "buffer": '{m}.register_buffer("{key}", {t})',
    "by hand": '{m}._parameters["{key}"] = {t}',
}
"""How a tensor is put into a module."""

FLAGS = {
    "swap": "torch.__future__.set_swap_module_params_on_conversion({})",
    "overwrite": "torch.__future__.set_overwrite_module_params_on_conversion({})",
}
"""How a flag is set."""

WEAKREFS: dict[Keeper, str] = {
    "ReferenceType": "weakref.ref({t})",
    "_WeakTensorRef": "torch._C._WeakTensorRef({t})",
    "ProxyType": "weakref.proxy({t})",
    "WeakIdRef": "torch.utils.weak.WeakIdRef({t})",
    "KeyedRef": 'weakref.KeyedRef({t}, print, "key")',
    "InternalRef": 'type("InternalRef", (weakref.ref,), {{}})({t})',
    "callback": 'weakref.ref({t}, lambda _: fired.append("{name}"))',
    "finalize": 'weakref.finalize({t}, fired.append, "{name}")',
    "TensorWeakRef": "torch.utils.weak.TensorWeakRef({t})",
    "WeakSet": "weakref.WeakSet([{t}])",
    "WeakKeyDictionary": 'weakref.WeakKeyDictionary({{{t}: "entry"}})',
    "WeakValueDictionary": 'weakref.WeakValueDictionary({{"key": {t}}})',
    "WeakIdKeyDictionary": 'torch.utils.weak.WeakIdKeyDictionary({{{t}: "entry"}})',
    "WeakTensorKeyDictionary": (
        'torch.utils.weak.WeakTensorKeyDictionary({{{t}: "entry"}})'
    ),
    "id-table": "{{id({t}): (weakref.ref({t}), {t}.dtype)}}",
    "guard": "weakref.ref({t}), type({t}), {t}.dtype, {t}.shape, {t}.requires_grad",
}
"""How a weak reference is taken, bare or by a keeper."""


def _assigned(one: Any) -> str:
    return f"{variable(one.name)} = "


def _recorded(line: str, grad_mode: bool) -> str:
    return line if grad_mode else f"with torch.no_grad(): {line}"


def _forward(one: actions.Forward) -> str:
    line = f"{_assigned(one)}{FORWARD[one.function].format(t=expression(one.t))}"
    return _recorded(line, one.grad_mode)


def _product(one: actions.Product) -> str:
    line = f"{_assigned(one)}{expression(one.t)} * {expression(one.u)}"
    return _recorded(line, one.grad_mode)


def _view(one: actions.View) -> str:
    line = f"{_assigned(one)}{FORWARD['view'].format(t=expression(one.t))}"
    return _recorded(line, one.grad_mode)


def _backward(one: actions.Backward) -> str:
    t = expression(one.t)
    return f"{t}.backward(torch.ones_like({t}))"


def weakref(keeper: Keeper, t: str, name: str) -> str:
    """The expression that takes a weak reference of *t* for the variable *name*."""
    return WEAKREFS[keeper].format(t=t, name=name)


def _weakref(one: actions.TakeWeakref) -> str:
    return f"{_assigned(one)}{weakref(one.type, expression(one.t), one.name)}"


HOOKS = {
    "tensor": "{t}.register_hook({hook})",
    "post-accumulate": "{t}.register_post_accumulate_grad_hook({hook})",
    "node": "torch.autograd.graph.get_gradient_edge({t}).node.register_hook({hook})",
}
"""How a hook of each kind is registered."""


def _hook(one: actions.RegisterHook) -> str:
    hook = f'lambda *_: fired.append("{one.label}")'
    return HOOKS[one.kind].format(t=expression(one.t), hook=hook)


def _cast_data(one: actions.CastData) -> str:
    t = expression(one.t)
    return f"{t}.data = {t}.data.to({dtype(one.dtype)})"


def _swap(one: actions.SwapTensors) -> str:
    return f"torch.utils.swap_tensors({expression(one.t1)}, {expression(one.t2)})"


SPELLINGS: dict[type[Action], Callable[[Any], str]] = {
    actions.Convert: lambda one: conversion(expression(one.module), one.fn),
    actions.SwapTensors: _swap,
    actions.SetData: lambda one: f"{expression(one.t)}.data = {expression(one.u)}",
    actions.CastData: _cast_data,
    actions.FillGrad: lambda one: (
        f"{expression(one.t)}.grad = torch.ones_like({expression(one.t)})"
    ),
    actions.ClearGrad: lambda one: f"{expression(one.t)}.grad = None",
    actions.SetGrad: lambda one: f"{expression(one.t)}.grad = {expression(one.u)}",
    actions.RequiresGrad: lambda one: (
        f"{expression(one.t)}.requires_grad_({one.value})"
    ),
    actions.RetainGrad: lambda one: f"{expression(one.t)}.retain_grad()",
    actions.Write: lambda one: f"with torch.no_grad(): {expression(one.t)}.add_(1)",
    actions.Forward: _forward,
    actions.Product: _product,
    actions.Backward: _backward,
    actions.View: _view,
    actions.Detach: lambda one: f"{_assigned(one)}{expression(one.t)}.detach()",
    actions.Drop: lambda one: f"del {variable(one.name)}",
    actions.TakeWeakref: _weakref,
    actions.RegisterHook: _hook,
    actions.SetAttribute: lambda one: setting(
        expression(one.t), one.key, str(one.value)
    ),
    actions.Register: lambda one: REGISTER[one.kind].format(
        m=expression(one.module), key=one.key, t=expression(one.t)
    ),
    actions.Tie: lambda one: setting(
        expression(one.module), one.key, expression(one.t)
    ),
    actions.Unregister: lambda one: deleting(expression(one.module), one.key),
    actions.Deepcopy: lambda one: f"{_assigned(one)}copy.deepcopy({expression(one.t)})",
    actions.DeepcopyModule: lambda one: (
        f"{_assigned(one)}copy.deepcopy({expression(one.module)})"
    ),
    actions.NameTensor: lambda one: f"{_assigned(one)}{expression(one.t)}",
    actions.MakeOptimizer: lambda one: (
        f"{_assigned(one)}{OPTIMIZERS[one.kind].format(m=expression(one.module))}"
    ),
    actions.AddParamGroup: lambda one: (
        f"{expression(one.optimizer)}.add_param_group("
        f'{{"params": {expression(one.module)}.parameters()}})'
    ),
    actions.OptimizerStep: lambda one: f"{expression(one.optimizer)}.step()",
    actions.ZeroGrad: lambda one: (
        f"{expression(one.optimizer)}.zero_grad(set_to_none={one.set_to_none})"
    ),
    actions.SetFlag: lambda one: FLAGS[one.flag].format(one.value),
}
"""How each kind of action is written."""


def spelled(action: Action) -> str:
    """An action as a line of Python."""
    return SPELLINGS[type(action)](action)


# -- Refusals ----------------------------------------------------------------------


def chain(refusal: Refusal) -> tuple[Refusal, ...]:
    """A refusal with those raised from it, outermost first, as `except` sees them."""
    return (*reversed(refusal.within), refusal)


def exception(refusal: Refusal) -> str:
    """What `except` has to name."""
    known = rules().get(chain(refusal)[0].rule)
    raises = ("RuntimeError",) if known is None else known.raises
    return raises[0] if len(raises) == 1 else f"({', '.join(raises)})"


def text(spec: Spec, refusal: Refusal) -> str:
    """What torch says of one refusal, `...` where nobody knows what stands there."""
    known = text_of(spec, refusal)
    return "..." if known is None else known
