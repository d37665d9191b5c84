"""
What does one action make of a heap?
"""

from __future__ import annotations

from typing import Any

from swapmodel import actions
from swapmodel.actions import Action, operands
from swapmodel.graph_actions import GRAPH_ACTIONS
from swapmodel.outcomes import (
    Crash,
    Done,
    Outcome,
    OutOfScope,
    Refusal,
    Refused,
    Stop,
    Undefined,
    Unmodelled,
)
from swapmodel.semantics import (
    autograd_meta,
    backward,
    convert,
    cycles,
    deepcopy,
    forward,
    functions,
    hooks,
    methods,
    modules,
    optimize,
    ownership,
    param_groups,
    payloads,
    places,
    set_data,
    swap,
    taken,
    tensors,
    weakrefs,
    writes,
)
from swapmodel.semantics.spec import Frame, Spec
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft, Watch
from swapmodel.state.heap import Heap
from swapmodel.state.holders import Flags
from swapmodel.state.ids import ModuleId, OptimizerId, TensorId
from swapmodel.state.record import field_names


def step(heap: Heap, action: Action, spec: Spec, watch: Watch | None = None) -> Outcome:
    """
    Run one action on a heap, and say what it came to.

    *watch* is called after each phase with the phase's id and a frozen copy of what
    there is by then.  Whatever happens, *heap* is untouched.
    """
    draft = Draft(heap, watch)
    frame = Frame(spec)
    stop = _perform(draft, frame, action)
    if isinstance(stop, Unmodelled):
        return OutOfScope(stop.why, tuple(draft.events))
    draft.frames.clear()
    if cycles.leaks(draft):
        return OutOfScope("a cycle through a gradient is never collected")
    ownership.collect(draft)
    then, events = draft.sealed(), tuple(draft.events)
    match stop:
        case Refusal():
            return Refused(then, stop, events)
        case Crash(why):
            return Undefined(then, why, events)
    return Done(then, events)


def _perform(draft: Draft, frame: Frame, action: Action) -> Stop | None:
    found: list[Any] = []
    for name, kind in operands(type(action)):
        place = getattr(action, name)
        thing = places.resolve(draft, place)
        if thing is None and taken.read_by_torch(place):
            return Unmodelled(f"the place {place}")
        if thing is None and not places.holds_none(draft, place):
            # [place/absent]
            return Refusal("place/absent", place)
        if thing is None or thing[0] != kind:
            # Python asks for no kind, so that some of these do something.
            return Unmodelled(f"an operand that is no {kind}")
        stop = methods.refusal(draft, action, thing)
        if stop is not None:
            return stop
        found.append(thing[1])
    stop = taken.stop(draft, action, found)
    if stop is not None:
        return stop
    return _dispatch(draft, frame, action, found)


def _dispatch(
    draft: Draft, frame: Frame, action: Action, found: list[Any]
) -> Stop | None:
    match action:
        case actions.Forward() | actions.Product() | actions.View() | actions.Detach():
            return _compute(draft, frame, action, found)
        case _ if isinstance(action, GRAPH_ACTIONS):
            return _on_graph(draft, action, found)
        case actions.Convert(_, fn):
            return convert.convert(draft, frame, found[0], fn)
        case actions.SwapTensors():
            if not frame.spec.has("swap_tensors"):
                return Unmodelled(f"{frame.spec.id} has no swap_tensors")
            return swap.swap_tensors(draft, frame, *found)
        case actions.SetData():
            return set_data.set_data(draft, frame, *found)
        case actions.CastData(_, dtype):
            return _cast_data(draft, frame, found[0], dtype)
        case actions.Drop(name):
            return _drop(draft, name)
        case actions.TakeWeakref(keeper, _, name):
            draft.bind(name, "weakref", weakrefs.take(draft, keeper, found[0], name))
        case actions.SetAttribute(_, key, value):
            _set_attribute(draft, found[0], key, value)
        case actions.Register(_, key, _, kind):
            return _register(draft, kind, key, *found)
        case actions.Tie(_, key):
            return modules.set_attribute(draft, found[0], key, found[1])
        case actions.Unregister(module, key):
            return modules.delete_attribute(draft, found[0], module, key)
        case actions.Deepcopy(_, name):
            return _name(draft, name, deepcopy.deepcopy(draft, *found))
        case actions.DeepcopyModule(_, name):
            copied = deepcopy.deepcopy_module(draft, frame, *found)
            if isinstance(copied, Stop):
                return copied
            draft.bind(name, "module", copied)
        case actions.NameTensor(_, name):
            draft.bind(name, "tensor", found[0])
        case actions.MakeOptimizer(kind, _, name):
            return _name_optimizer(draft, name, param_groups.make(draft, kind, *found))
        case actions.AddParamGroup():
            return param_groups.add_group(draft, *found)
        case actions.OptimizerStep():
            return optimize.step(draft, *found)
        case actions.ZeroGrad(_, set_to_none):
            return optimize.zero_grad(draft, *found, set_to_none=set_to_none)
        case _:
            assert isinstance(action, actions.SetFlag), action
            flag, value = action.flag, action.value
            flags = {one: getattr(draft.flags, one) for one in field_names(Flags)}
            draft.flags = Flags(**{**flags, flag: value})
    return None


def _compute(
    draft: Draft, frame: Frame, action: Action, found: list[Any]
) -> Stop | None:
    """Make a tensor of others, of the class that theirs gives, and name it."""
    match action:
        case actions.Forward(function, _, name, grad_mode):
            made = forward.forward(draft, function, found[0], grad_mode)
        case actions.Product(_, _, name, grad_mode):
            made = forward.product(draft, found[0], found[1], grad_mode)
        case actions.View(_, name, grad_mode):
            made = forward.view(draft, frame, found[0], grad_mode)
        case _:
            assert isinstance(action, actions.Detach), action
            return _name(draft, action.name, tensors.detach(draft, found[0]))
    converted = methods.returned(draft, found[0], made, *found[1:], grad_mode=grad_mode)
    return _name(draft, name, converted)


def _on_graph(draft: Draft, action: Action, found: list[Any]) -> Stop | None:
    """Work on gradients, flags, hooks and graphs."""
    match action:
        case actions.FillGrad():
            return _fill_grad(draft, *found)
        case actions.ClearGrad():
            draft.edit_meta(draft.tensor(*found).impl).grad = None
        case actions.SetGrad():
            return autograd_meta.set_grad(draft, *found)
        case actions.RequiresGrad(_, value):
            return autograd_meta.set_requires_grad(draft, found[0], value)
        case actions.RetainGrad():
            return hooks.retain_grad(draft, *found)
        case actions.Write():
            return _write(draft, *found)
        case actions.Backward():
            return backward.backward(draft, *found)
        case _:
            assert isinstance(action, actions.RegisterHook), action
            return hooks.register_hook(draft, found[0], action.label, action.kind)
    return None


def _register(
    draft: Draft, kind: str, key: str, m: ModuleId, t: TensorId
) -> Stop | None:
    if kind == "parameter":
        return modules.register_parameter(draft, m, key, t)
    if kind == "buffer":
        return modules.register_buffer(draft, m, key, t)
    modules.put_by_hand(draft, m, key, t)
    return None


def _name(draft: Draft, name: str, made: TensorId | Stop) -> Stop | None:
    """Assign what an operation made to a variable."""
    if isinstance(made, Stop):
        return made
    draft.bind(name, "tensor", made)
    return None


def _name_optimizer(draft: Draft, name: str, made: OptimizerId | Stop) -> Stop | None:
    if isinstance(made, Stop):
        return made
    draft.bind(name, "optimizer", made)
    return None


def _drop(draft: Draft, name: str) -> Stop | None:
    if places.resolve(draft, name) is None:
        # [place/absent]
        return Refusal("place/absent", name)
    draft.unbind(name)
    return None


def _cast_data(draft: Draft, frame: Frame, t: TensorId, dtype: str) -> Stop | None:
    """`t.data = t.data.to(dtype)`."""
    data = functions.unmodelled_dtype(dtype) or tensors.data(draft, t)
    if isinstance(data, Stop):
        return data
    applied = methods.returned(draft, data, functions.cast(draft, data, dtype))
    if isinstance(applied, Stop):
        return applied
    return set_data.set_data(draft, frame, t, applied)


def _fill_grad(draft: Draft, t: TensorId) -> Stop | None:
    """`t.grad = torch.ones_like(t)`."""
    payload = payloads.outline(draft, t)
    if isinstance(payload, Stop):
        return payload
    ones = tensors.make(draft, payloads.ones(payload))
    grad = methods.returned(draft, t, ones)
    assert not isinstance(grad, Stop), "ones of a tensor are of its form"
    return autograd_meta.set_grad(draft, t, grad)


def _write(draft: Draft, t: TensorId) -> Stop | None:
    """`t.add_(1)` under `no_grad`."""
    payload = payloads.outline(draft, t)
    if isinstance(payload, Stop):
        return payload
    return writes.add_in_place(draft, t, payloads.ones(payload))


def _set_attribute(draft: Draft, t: TensorId, key: str, value: int) -> None:
    """`t.key = value`, which goes into a slot if the class has one of that name."""
    tensor = draft.edit_tensor(t)
    if key in tensor_class(tensor.cls).slots:
        tensor.slots = _with(tensor.slots, key, value)
    else:
        tensor.attributes = _with(tensor.attributes, key, value)


def _with(
    entries: tuple[tuple[str, int], ...], key: str, value: int
) -> tuple[tuple[str, int], ...]:
    return tuple(sorted([*(one for one in entries if one[0] != key), (key, value)]))
