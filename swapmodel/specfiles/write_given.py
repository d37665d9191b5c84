"""
How is a start heap written as the tables that it can be read from?
"""

from __future__ import annotations

from attrs import frozen

from swapmodel.outcomes import Stop
from swapmodel.semantics.payloads import leaves, read
from swapmodel.specfiles.given import NONE
from swapmodel.state.classes import tensor_class
from swapmodel.state.heap import Heap, living
from swapmodel.state.holders import Module, held
from swapmodel.state.ids import ModuleId, TensorId


@frozen
class _Labels:
    """A label for every tensor and module of a heap."""

    tensors: dict[TensorId, str]
    modules: dict[ModuleId, str]


def given_of(heap: Heap) -> dict[str, object]:
    """
    Write a heap as the tables that it can be read from.

    Only what `heap_from_given` makes can be written: no graphs, hooks or weakrefs.
    """
    labels = _labelled(heap)
    inner = {
        one
        for t, tensor in living(heap.tensors)
        if _is_uniform(heap, TensorId(t))
        for _, one in tensor.inner
    }
    tensors = {
        labels.tensors[TensorId(t)]: _tensor_table(heap, TensorId(t), labels)
        for t, one in enumerate(heap.tensors)
        if t in labels.tensors and t not in inner
    }
    modules = {
        labels.modules[ModuleId(m)]: _module_table(heap, ModuleId(m), labels)
        for m, one in enumerate(heap.modules)
        if one is not None
    }
    flags = {"swap": heap.flags.swap, "overwrite": heap.flags.overwrite}
    on = {key: True for key, is_set in flags.items() if is_set}
    tables = {"flags": on, "tensors": tensors, "modules": modules}
    return {key: table for key, table in tables.items() if table}


def _labelled(heap: Heap) -> _Labels:
    labels = _Labels({}, {})
    used = {name for name, _, _ in heap.names}
    for name, kind, position in heap.names:
        if kind == "tensor":
            labels.tensors[TensorId(position)] = name
        elif kind == "module":
            labels.modules[ModuleId(position)] = name
    for _, module in living(heap.modules):
        for name, child in module.children:
            if child not in labels.modules:
                labels.modules[child] = _unused(name, used)
        for name, one in held(module):
            if one is not None and one not in labels.tensors:
                labels.tensors[one] = _unused(name, used)
    for position, tensor in living(heap.tensors):
        t = TensorId(position)
        base = heap.meta_of(t).base
        if base is not None and heap.impl(base).pyobj not in labels.tensors:
            labels.tensors[heap.impl(base).pyobj] = _unused("base", used)
        for name, one in () if _is_uniform(heap, t) else tensor.inner:
            if one not in labels.tensors:
                labels.tensors[one] = _unused(f"inner_{name}", used)
        grad = heap.grad_of(t)
        if grad is not None and grad not in labels.tensors:
            labels.tensors[grad] = _unused(f"{labels.tensors[t]}_grad", used)
    return labels


def _unused(name: str, used: set[str]) -> str:
    while name in used:
        name = f"{name}_"
    used.add(name)
    return name


def _tensor_table(heap: Heap, t: TensorId, labels: _Labels) -> dict[str, object]:
    tensor, meta = heap.tensor(t), heap.meta_of(t)
    assert meta.grad_fn is None, "a graph cannot be given"
    assert tensor.backward_hooks is None, "hooks cannot be given"
    table: dict[str, object] = {"class": tensor.cls, **_content(heap, t, labels)}
    is_parameter = tensor.is_param or tensor_class(tensor.cls).parameter
    registered = t in {one for m in _modules(heap) for _, one in m.parameters}
    by_default = registered and not tensor_class(tensor.cls).plain
    if tensor.is_param != by_default and not tensor_class(tensor.cls).parameter:
        table["parameter"] = tensor.is_param
    if meta.requires_grad != is_parameter:
        table["requires_grad"] = meta.requires_grad
    grad = heap.grad_of(t)
    if grad is not None:
        table["grad"] = labels.tensors[grad]
    for key in ("attributes", "slots"):
        if getattr(tensor, key):
            table[key] = dict(getattr(tensor, key))
    if ("tensor", t) in {held[1:] for held in heap.names} and _is_held(heap, t):
        table["variable"] = True
    return table


def _content(heap: Heap, t: TensorId, labels: _Labels) -> dict[str, object]:
    """What a tensor stands on: values of its own, another tensor, or inner ones."""
    tensor, impl, base = heap.tensor(t), heap.impl_of(t), heap.meta_of(t).base
    if tensor.inner and not _is_uniform(heap, t):
        return {"inner": {name: labels.tensors[one] for name, one in tensor.inner}}
    whole = _whole(heap, t) if base is None else heap.impl(base).pyobj
    if whole != t:
        offset = impl.offset - heap.impl_of(whole).offset
        key = "over" if base is None else "view_of"
        part = {"offset": offset, "length": impl.length}
        return {key: labels.tensors[whole], **part}
    payload = read(heap, t)
    assert not isinstance(payload, Stop)
    values = leaves(payload)[0]
    table: dict[str, object] = {
        "values": "undefined" if values is None else list(values)
    }
    if impl.dtype != "float32":
        table["dtype"] = impl.dtype
    if impl.device != "cpu":
        table["device"] = impl.device
    return table


def _is_uniform(heap: Heap, t: TensorId) -> bool:
    """Whether the inner tensors are plain, equal, and nowhere else."""
    inner = [one for _, one in heap.tensor(t).inner]
    impls = [heap.impl_of(one) for one in inner]
    plain = all(
        heap.tensor(one).cls == "Tensor" and _whole(heap, one) == one for one in inner
    )
    seen = {
        (one.dtype, one.length, heap.storages[one.storage].values)
        for one in impls
        if one.storage is not None
    }
    return not inner or (plain and len(seen) == 1)


def _whole(heap: Heap, t: TensorId) -> TensorId:
    """The tensor that covers most of a storage, the first of several."""
    storage = heap.impl_of(t).storage
    if storage is None:
        return t
    over = [
        (-heap.impl_of(TensorId(one)).length, one)
        for one, _ in living(heap.tensors)
        if heap.impl_of(TensorId(one)).storage == storage
        and heap.meta_of(TensorId(one)).base is None
    ]
    return TensorId(min(over, default=(0, t))[1])


def _modules(heap: Heap) -> list[Module]:
    return [one for one in heap.modules if one is not None]


def _is_held(heap: Heap, t: TensorId) -> bool:
    slots = [h for m in _modules(heap) for _, h in held(m)]
    grads = {meta.grad for meta in heap.metas if meta is not None}
    inner = [one for _, tensor in living(heap.tensors) for _, one in tensor.inner]
    return t in slots or t in inner or heap.tensor(t).impl in grads


def _module_table(heap: Heap, m: ModuleId, labels: _Labels) -> dict[str, object]:
    module = heap.module(m)
    table: dict[str, object] = {}
    if module.cls != "Module":
        table["class"] = module.cls
    for key in ("parameters", "buffers", "attributes"):
        named = {
            k: NONE if t is None else labels.tensors[t] for k, t in getattr(module, key)
        }
        if named:
            table[key] = named
    if module.children:
        table["children"] = {k: labels.modules[c] for k, c in module.children}
    return table
