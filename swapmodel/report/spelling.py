"""
How does a person write an action, a place and a value in torch?
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swapmodel import actions
from swapmodel.actions import Action
from swapmodel.conversions import (
    ByRole,
    Cast,
    ConversionFn,
    DetachEach,
    Identity,
    NoTensor,
    Other,
    RaiseAt,
    ScaleInPlace,
    TensorFn,
    To,
    ToDevice,
    ToEmpty,
    Type,
    Unwrap,
    Wrap,
)
from swapmodel.outcomes import Refusal
from swapmodel.report.optimizers import OPTIMIZERS, inside_optimizer
from swapmodel.semantics.payloads import SCALE
from swapmodel.semantics.places import segments
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.rules import rules
from swapmodel.specfiles.texts import text_of
from swapmodel.state.classes import tensor_class
from swapmodel.state.keepers import Keeper

CAST_METHODS = {
    "float64": "double",
    "float32": "float",
    "float16": "half",
    "bfloat16": "bfloat16",
}
"""The methods of `nn.Module` that cast, by dtype."""

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


def expression(place: str) -> str:
    """A place as Python reads it; a name like `0` of a `Sequential` needs `getattr`."""
    first, *rest = segments(place)
    for name in rest:
        name = inside_optimizer(first, name)
        plain = name.partition("[")[0].isidentifier()
        first = f"{first}.{name}" if plain else f'getattr({first}, "{name}")'
    return first


def dtype(name: str) -> str:
    """A dtype as torch prints it."""
    return f"torch.{name}"


def conversion(module: str, fn: ConversionFn) -> str:
    """A module's conversion: one of its methods, or a function for `_apply`."""
    match fn:
        case Cast(name) if name in CAST_METHODS:
            return f"{module}.{CAST_METHODS[name]}()"
        case To(name):
            return f"{module}.to({dtype(name)})"
        case Type(name):
            return f"{module}.type({dtype(name)})"
        case ToDevice(name):
            return f'{module}.to("{name}")'
        case ToEmpty(name):
            return f'{module}.to_empty(device="{name}")'
        case RaiseAt(number, one):
            return f"{module}._apply(RaiseAt({number}, lambda t: {applied(one)}))"
        case ByRole(parameter, other):
            both = f"{applied(parameter)} if {IS_PARAMETER} else {applied(other)}"
            return f"{module}._apply(lambda t: {both})"
        case _:
            return f"{module}._apply(lambda t: {applied(fn)})"


IS_PARAMETER = "isinstance(t, torch.nn.Parameter)"


def applied(fn: TensorFn) -> str:
    """What a function makes of `t`, as an expression in parentheses."""
    return f"({_applied(fn)})"


def _applied(fn: TensorFn) -> str:
    match fn:
        case Cast(name):
            return f"t.to({dtype(name)}) if t.is_floating_point() else t"
        case To(name):
            asked = "t.is_floating_point() or t.is_complex()"
            return f"t.to({dtype(name)}) if {asked} else t"
        case Type(name):
            return f"t.type({dtype(name)})"
        case ToDevice(name):
            return f't.to("{name}")'
        case ToEmpty(name):
            return f'torch.empty_like(t, device="{name}")'
        case Identity():
            return "t"
        case DetachEach():
            return "t.detach()"
        case ScaleInPlace():
            return f"t.mul_({SCALE})"
        case Wrap(cls):
            copies = ["t.detach().clone()"] * len(tensor_class(cls).inner)
            return f"{cls}({', '.join(copies)})"
        case Unwrap(name):
            return f'getattr(t, "{name}", t)'
        case NoTensor():
            return "None"
        case Other(place):
            return expression(place)


def _recorded(line: str, grad_mode: bool) -> str:
    return line if grad_mode else f"with torch.no_grad(): {line}"


def _forward(one: actions.Forward) -> str:
    line = f"{one.name} = {FORWARD[one.function].format(t=expression(one.t))}"
    return _recorded(line, one.grad_mode)


def _product(one: actions.Product) -> str:
    line = f"{one.name} = {expression(one.t)} * {expression(one.u)}"
    return _recorded(line, one.grad_mode)


def _view(one: actions.View) -> str:
    line = f"{one.name} = {FORWARD['view'].format(t=expression(one.t))}"
    return _recorded(line, one.grad_mode)


def _backward(one: actions.Backward) -> str:
    t = expression(one.t)
    return f"{t}.backward(torch.ones_like({t}))"


def weakref(keeper: Keeper, t: str, name: str) -> str:
    """The expression that takes a weak reference of *t* for the variable *name*."""
    return WEAKREFS[keeper].format(t=t, name=name)


def _weakref(one: actions.TakeWeakref) -> str:
    return f"{one.name} = {weakref(one.type, expression(one.t), one.name)}"


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
    actions.Detach: lambda one: f"{one.name} = {expression(one.t)}.detach()",
    actions.Drop: lambda one: f"del {one.name}",
    actions.TakeWeakref: _weakref,
    actions.RegisterHook: _hook,
    actions.SetAttribute: lambda one: f"{expression(one.t)}.{one.key} = {one.value}",
    actions.Register: lambda one: REGISTER[one.kind].format(
        m=expression(one.module), key=one.key, t=expression(one.t)
    ),
    actions.Tie: lambda one: (
        f"{expression(one.module)}.{one.key} = {expression(one.t)}"
    ),
    actions.Unregister: lambda one: f"del {expression(one.module)}.{one.key}",
    actions.Deepcopy: lambda one: f"{one.name} = copy.deepcopy({expression(one.t)})",
    actions.DeepcopyModule: lambda one: (
        f"{one.name} = copy.deepcopy({expression(one.module)})"
    ),
    actions.NameTensor: lambda one: f"{one.name} = {expression(one.t)}",
    actions.MakeOptimizer: lambda one: (
        f"{one.name} = {OPTIMIZERS[one.kind].format(m=expression(one.module))}"
    ),
    actions.OptimizerStep: lambda one: f"{one.optimizer}.step()",
    actions.ZeroGrad: lambda one: (
        f"{one.optimizer}.zero_grad(set_to_none={one.set_to_none})"
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
