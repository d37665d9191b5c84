"""
What is each action in real torch?  One small function per kind of action.

Scripts have a line for each as well (`report.spelling`).  Those lines are not run here:
to compile one for each place and name costs more than the action, and two ways of
saying one thing are compared whenever a script is confirmed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any, TypeAlias, TypeVar

import torch

from swapmodel import actions
from swapmodel.actions import Action, operands
from swapmodel.conformance import keepers
from swapmodel.conformance.optimizers import in_optimizer
from swapmodel.conformance.sources import CLASSES
from swapmodel.report import spelling
from swapmodel.report.names import CONVERTED, variable
from swapmodel.report.optimizers import KINDS
from swapmodel.semantics.payloads import SCALE
from swapmodel.semantics.places import segments

A = TypeVar("A")

Fired: TypeAlias = list[str]

_PERFORMERS: dict[type, Callable[..., tuple[str, Any] | None]] = {}


OPTIMIZERS: dict[str, tuple[Any, dict[str, float]]] = {
    kind: (getattr(torch.optim, name), options)
    for kind, (name, options) in KINDS.items()
}
"""The class of each kind of optimizer, and how its update is made exact."""


def perform(variables: dict[str, Any], fired: Fired, action: Action) -> None:
    """Run one action on these variables; hooks append their labels to *fired*."""
    places = [getattr(action, name) for name, _ in operands(type(action))]
    found = [_at(variables, place) for place in places]
    if isinstance(action, actions.Drop):
        if action.name not in variables:
            raise AttributeError(action.name)
        del variables[action.name]
    elif isinstance(action, actions.Convert):
        # The function is made from the line that scripts have, with all variables.
        code = _compiled(spelling.conversion(CONVERTED, action.fn))
        written = {variable(name): one for name, one in variables.items()}
        eval(code, {**CLASSES, **written, "torch": torch, CONVERTED: found[0]})
    elif isinstance(action, actions.RegisterHook):
        _register_hook(action, found[0], _hook(fired, action.label))
    elif isinstance(action, actions.TakeWeakref):
        kept = keepers.take(action.type, found[0], action.name, fired)
        variables[action.name] = kept
    else:
        named = _PERFORMERS[type(action)](action, *found)
        if named is not None:
            variables[named[0]] = named[1]


@cache
def _compiled(line: str) -> CodeType:
    return compile(line, "a conversion", "eval")


def _at(variables: dict[str, Any], place: str) -> Any:
    first, *rest = segments(place)
    thing = variables.get(first)
    for name in rest:
        if isinstance(thing, torch.optim.Optimizer):
            thing = dict(in_optimizer(thing)).get(name)
            continue
        name, _, index = name.partition("[")
        thing = getattr(thing, name, None)
        if index and thing is not None:
            thing = thing[int(index.removesuffix("]"))]
    if thing is None:
        raise AttributeError(place)
    return thing


def _register_hook(action: actions.RegisterHook, t: Any, hook: Any) -> None:
    match action.kind:
        case "tensor":
            t.register_hook(hook)
        case "post-accumulate":
            t.register_post_accumulate_grad_hook(hook)
        case "node":
            torch.autograd.graph.get_gradient_edge(t).node.register_hook(hook)


def _hook(fired: Fired, label: str) -> Callable[..., None]:
    def fire(*_: Any) -> None:
        fired.append(label)

    fire.label = label  # type: ignore[attr-defined]
    return fire


def _performs(kind: type[A]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        _PERFORMERS[kind] = run
        return run

    return register


@_performs(actions.SwapTensors)
def _swap_tensors(action: actions.SwapTensors, t1: Any, t2: Any) -> None:
    torch.utils.swap_tensors(t1, t2)


@_performs(actions.SetData)
def _set_data(action: actions.SetData, t: Any, u: Any) -> None:
    t.data = u


@_performs(actions.CastData)
def _cast_data(action: actions.CastData, t: Any) -> None:
    t.data = t.data.to(getattr(torch, action.dtype))


@_performs(actions.FillGrad)
def _fill_grad(action: actions.FillGrad, t: Any) -> None:
    t.grad = torch.ones_like(t)


@_performs(actions.ClearGrad)
def _clear_grad(action: actions.ClearGrad, t: Any) -> None:
    t.grad = None


@_performs(actions.SetGrad)
def _set_grad(action: actions.SetGrad, t: Any, u: Any) -> None:
    t.grad = u


@_performs(actions.RequiresGrad)
def _requires_grad(action: actions.RequiresGrad, t: Any) -> None:
    t.requires_grad_(action.value)


@_performs(actions.RetainGrad)
def _retain_grad(action: actions.RetainGrad, t: Any) -> None:
    t.retain_grad()


@_performs(actions.Write)
def _write(action: actions.Write, t: Any) -> None:
    with torch.no_grad():
        t.add_(1)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "scale": lambda t: t * SCALE,
    "square": lambda t: t.pow(2),
    "relu": lambda t: t.relu(),
}
"""The forward functions of the algebra that have one operand."""


@_performs(actions.Forward)
def _forward(action: actions.Forward, t: Any) -> tuple[str, Any]:
    with torch.set_grad_enabled(action.grad_mode):
        return action.name, FUNCTIONS[action.function](t)


@_performs(actions.Product)
def _product(action: actions.Product, t: Any, u: Any) -> tuple[str, Any]:
    with torch.set_grad_enabled(action.grad_mode):
        return action.name, t * u


@_performs(actions.Backward)
def _backward(action: actions.Backward, t: Any) -> None:
    t.backward(torch.ones_like(t))


@_performs(actions.View)
def _view(action: actions.View, t: Any) -> tuple[str, Any]:
    with torch.set_grad_enabled(action.grad_mode):
        return action.name, t.view(-1)


@_performs(actions.Detach)
def _detach(action: actions.Detach, t: Any) -> tuple[str, Any]:
    return action.name, t.detach()


@_performs(actions.Register)
def _register(action: actions.Register, module: Any, t: Any) -> None:
    match action.kind:
        case "parameter":
            module.register_parameter(action.key, t)
        case "buffer":
            module.register_buffer(action.key, t)
        case "by hand":
            module._parameters[action.key] = t


@_performs(actions.Tie)
def _tie(action: actions.Tie, module: Any, t: Any) -> None:
    setattr(module, action.key, t)


@_performs(actions.Unregister)
def _unregister(action: actions.Unregister, module: Any) -> None:
    delattr(module, action.key)


@_performs(actions.Deepcopy)
def _deepcopy(action: actions.Deepcopy, t: Any) -> tuple[str, Any]:
    return action.name, copy.deepcopy(t)


@_performs(actions.DeepcopyModule)
def _deepcopy_module(action: actions.DeepcopyModule, module: Any) -> tuple[str, Any]:
    return action.name, copy.deepcopy(module)


@_performs(actions.NameTensor)
def _name_tensor(action: actions.NameTensor, t: Any) -> tuple[str, Any]:
    return action.name, t


@_performs(actions.MakeOptimizer)
def _make_optimizer(action: actions.MakeOptimizer, module: Any) -> tuple[str, Any]:
    cls, options = OPTIMIZERS[action.kind]
    return action.name, cls(module.parameters(), **options)


@_performs(actions.AddParamGroup)
def _add_param_group(
    action: actions.AddParamGroup, optimizer: Any, module: Any
) -> None:
    optimizer.add_param_group({"params": module.parameters()})


@_performs(actions.OptimizerStep)
def _optimizer_step(action: actions.OptimizerStep, optimizer: Any) -> None:
    optimizer.step()


@_performs(actions.ZeroGrad)
def _zero_grad(action: actions.ZeroGrad, optimizer: Any) -> None:
    optimizer.zero_grad(set_to_none=action.set_to_none)


@_performs(actions.SetFlag)
def _set_flag(action: actions.SetFlag) -> None:
    set_flag(action.flag, action.value)


def set_flag(name: str, value: bool) -> None:
    """Set a switch of `torch.__future__`."""
    getattr(torch.__future__, f"set_{name}_module_params_on_conversion")(value)


@_performs(actions.SetAttribute)
def _set_attribute(action: actions.SetAttribute, t: Any) -> None:
    setattr(t, action.key, action.value)
