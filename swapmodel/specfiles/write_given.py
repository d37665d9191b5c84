"""
How is a start heap written as the tables that it can be read from?
"""

from __future__ import annotations

from attrs import frozen

from swapmodel.semantics.payloads import Dense, Wrapped, leaves, read
from swapmodel.state.classes import tensor_class
from swapmodel.state.heap import Heap, living
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
    inner = {one for tensor in heap.tensors if tensor for _, one in tensor.inner}
    tensors = {
        labels.tensors[TensorId(t)]: _tensor_table(heap, TensorId(t), labels)
        for t, one in enumerate(heap.tensors)
        if one is not None and t not in inner
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
        for name, one in (*module.parameters, *module.buffers):
            if one is not None and one not in labels.tensors:
                labels.tensors[one] = _unused(name, used)
    for position, _ in living(heap.tensors):
        t = TensorId(position)
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
    tensor, impl, meta = heap.tensor(t), heap.impl_of(t), heap.meta_of(t)
    in_graph = meta.grad_fn is not None or meta.base is not None
    assert not in_graph, "a graph cannot be given"
    assert tensor.backward_hooks is None, "hooks cannot be given"
    payload = read(heap, t)
    assert isinstance(payload, Dense | Wrapped)
    values = leaves(payload)[0]
    table: dict[str, object] = {
        "class": tensor.cls,
        "values": "undefined" if values is None else list(values),
    }
    if impl.dtype != "float32":
        table["dtype"] = impl.dtype
    if impl.device != "cpu":
        table["device"] = impl.device
    is_parameter = tensor.is_param or tensor_class(tensor.cls).parameter
    if meta.requires_grad != is_parameter:
        table["requires_grad"] = meta.requires_grad
    grad = heap.grad_of(t)
    if grad is not None:
        table["grad"] = labels.tensors[grad]
    if tensor.attributes:
        table["attributes"] = dict(tensor.attributes)
    if ("tensor", t) in {held[1:] for held in heap.names} and _is_held(heap, t):
        table["variable"] = True
    return table


def _is_held(heap: Heap, t: TensorId) -> bool:
    modules = [one for one in heap.modules if one is not None]
    slots = [held for m in modules for _, held in (*m.parameters, *m.buffers)]
    grads = {meta.grad for meta in heap.metas if meta is not None}
    return t in slots or heap.tensor(t).impl in grads


def _module_table(heap: Heap, m: ModuleId, labels: _Labels) -> dict[str, object]:
    module = heap.module(m)
    table: dict[str, object] = {}
    if module.cls != "Module":
        table["class"] = module.cls
    for key in ("parameters", "buffers"):
        named = {k: labels.tensors[t] for k, t in getattr(module, key) if t is not None}
        if named:
            table[key] = named
    if module.children:
        table["children"] = {k: labels.modules[c] for k, c in module.children}
    return table
