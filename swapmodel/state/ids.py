"""
What names a thing in a heap?  Its position in the tuple of its kind.
"""

from __future__ import annotations

from typing import Literal, NewType, TypeAlias

TensorId = NewType("TensorId", int)
"""A position in `Heap.tensors`: which Python object it is, `id(t)`."""

ImplId = NewType("ImplId", int)
"""A position in `Heap.impls` and `Heap.metas`: which C++ object, `t._cdata`."""

StorageId = NewType("StorageId", int)
"""A position in `Heap.storages`: `t.untyped_storage()`."""

CounterId = NewType("CounterId", int)
"""A position in `Heap.counters`: a version counter, shared by views."""

NodeId = NewType("NodeId", int)
"""A position in `Heap.nodes`: `t.grad_fn`, or an `AccumulateGrad`."""

HooksId = NewType("HooksId", int)
"""A position in `Heap.hooks`: one dict of hooks, `t._backward_hooks`."""

WeakrefId = NewType("WeakrefId", int)
"""A position in `Heap.weakrefs`."""

ModuleId = NewType("ModuleId", int)
"""A position in `Heap.modules`."""

OptimizerId = NewType("OptimizerId", int)
"""A position in `Heap.optimizers`."""

Kind: TypeAlias = Literal["tensor", "module", "weakref", "optimizer"]
"""What a variable can stand for."""

Held: TypeAlias = tuple[str, Kind, int]
"""A variable: its name, the kind of thing it holds, and that thing's position."""
