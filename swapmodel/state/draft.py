"""
What is the heap while one action runs?  The same records, written in place.

Only `semantics.step` makes a draft and freezes it; nothing keeps one afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import is_
from typing import Any, Protocol, TypeAlias, TypeVar

from swapmodel.state.autograd import AutogradMeta, Hooks, Node
from swapmodel.state.events import Event
from swapmodel.state.heap import COLUMNS, Columns, Heap
from swapmodel.state.holders import Module
from swapmodel.state.ids import (
    CounterId,
    HooksId,
    ImplId,
    Kind,
    ModuleId,
    NodeId,
    OptimizerId,
    StorageId,
    TensorId,
    WeakrefId,
)
from swapmodel.state.optimizers import Optimizer
from swapmodel.state.record import freeze, seal_all, thaw
from swapmodel.state.tensors import Storage, Tensor, TensorImpl
from swapmodel.state.weakrefs import Weakref

R = TypeVar("R")

Watch: TypeAlias = Callable[[str, Heap], None]
"""Called after a phase with its id and a frozen copy of the draft."""


class Locals(Protocol):
    """The local variables of a running operation: they own tensors until it ends."""

    def tensors(self) -> Iterable[TensorId]:
        """The tensors that the local variables hold."""
        ...


class Draft(Columns):
    """
    A heap that one action is writing.

    Reading goes as in a heap.  `edit_...` gives the record at a position for
    writing, `add_...` appends one, frozen or writable; a record is copied when it
    is first written.
    """

    __slots__ = (
        *COLUMNS,
        "_last",
        "_written",
        "events",
        "flags",
        "frames",
        "names",
        "watch",
    )

    tensors: list[Tensor]
    impls: list[TensorImpl]
    metas: list[AutogradMeta]
    storages: list[Storage]
    counters: list[int]
    nodes: list[Node]
    hooks: list[Hooks]
    weakrefs: list[Weakref]
    modules: list[Module]
    optimizers: list[Optimizer]

    def __init__(self, heap: Heap, watch: Watch | None = None) -> None:
        self.tensors = list(heap.tensors)
        self.impls = list(heap.impls)
        self.metas = list(heap.metas)
        self.storages = list(heap.storages)
        self.counters = list(heap.counters)
        self.nodes = list(heap.nodes)
        self.hooks = list(heap.hooks)
        self.weakrefs = list(heap.weakrefs)
        self.modules = list(heap.modules)
        self.optimizers = list(heap.optimizers)
        self.names = heap.names
        self.flags = heap.flags
        self.watch = watch
        self.events: list[Event] = []
        self.frames: list[Locals] = []
        self._written: list[Any] = []
        self._last: Heap | None = None

    # -- Writing -------------------------------------------------------------

    def edit_tensor(self, t: TensorId) -> Tensor:
        """The Python tensor at *t*, for writing."""
        one = self.tensors[t]
        if type(one) is Tensor:
            one = self.tensors[t] = self._writable(one)
        return one

    def edit_impl(self, i: ImplId) -> TensorImpl:
        """The `TensorImpl` at *i*, for writing."""
        one = self.impls[i]
        if type(one) is TensorImpl:
            one = self.impls[i] = self._writable(one)
        return one

    def edit_meta(self, i: ImplId) -> AutogradMeta:
        """The `AutogradMeta` of the impl at *i*, for writing."""
        one = self.metas[i]
        if type(one) is AutogradMeta:
            one = self.metas[i] = self._writable(one)
        return one

    def edit_storage(self, s: StorageId) -> Storage:
        """The storage at *s*, for writing."""
        one = self.storages[s]
        if type(one) is Storage:
            one = self.storages[s] = self._writable(one)
        return one

    def edit_node(self, n: NodeId) -> Node:
        """The graph node at *n*, for writing."""
        one = self.nodes[n]
        if type(one) is Node:
            one = self.nodes[n] = self._writable(one)
        return one

    def edit_hooks(self, h: HooksId) -> Hooks:
        """The dict of hooks at *h*, for writing."""
        one = self.hooks[h]
        if type(one) is Hooks:
            one = self.hooks[h] = self._writable(one)
        return one

    def edit_weakref(self, w: WeakrefId) -> Weakref:
        """The weak reference at *w*, for writing."""
        one = self.weakrefs[w]
        if type(one) is Weakref:
            one = self.weakrefs[w] = self._writable(one)
        return one

    def edit_module(self, m: ModuleId) -> Module:
        """The module at *m*, for writing."""
        one = self.modules[m]
        if type(one) is Module:
            one = self.modules[m] = self._writable(one)
        return one

    def edit_optimizer(self, o: OptimizerId) -> Optimizer:
        """The optimizer at *o*, for writing."""
        one = self.optimizers[o]
        if type(one) is Optimizer:
            one = self.optimizers[o] = self._writable(one)
        return one

    def _writable(self, one: R) -> R:
        written = thaw(one)
        self._written.append(written)
        return written

    def bump_version(self, i: ImplId) -> None:
        """Count one write in place on the impl at *i*."""
        counter = self.impl(i).counter
        self.counters[counter] += 1

    # -- Adding and releasing ------------------------------------------------

    def add_tensor(self, tensor: Tensor) -> TensorId:
        """Append a Python tensor."""
        return TensorId(self._append(self.tensors, tensor))

    def add_impl(self, impl: TensorImpl, meta: AutogradMeta) -> ImplId:
        """Append an impl together with its autograd metadata."""
        self.metas.append(meta)
        return ImplId(self._append(self.impls, impl))

    def add_storage(self, storage: Storage) -> StorageId:
        """Append a storage."""
        return StorageId(self._append(self.storages, storage))

    def add_counter(self) -> CounterId:
        """Append a version counter that has counted nothing."""
        self.counters.append(0)
        return CounterId(len(self.counters) - 1)

    def add_node(self, node: Node) -> NodeId:
        """Append a graph node."""
        return NodeId(self._append(self.nodes, node))

    def add_hooks(self) -> HooksId:
        """Append an empty dict of hooks."""
        return HooksId(self._append(self.hooks, Hooks()))

    def add_weakref(self, weakref: Weakref) -> WeakrefId:
        """Append a weak reference."""
        return WeakrefId(self._append(self.weakrefs, weakref))

    def add_module(self, module: Module) -> ModuleId:
        """Append a module."""
        return ModuleId(self._append(self.modules, module))

    def add_optimizer(self, optimizer: Optimizer) -> OptimizerId:
        """Append an optimizer."""
        return OptimizerId(self._append(self.optimizers, optimizer))

    def _append(self, rows: list[R], one: R) -> int:
        rows.append(one)
        self._written.append(one)
        return len(rows) - 1

    def bind(self, name: str, kind: Kind, position: int) -> None:
        """Assign a variable, as `name = ...` does."""
        others = [held for held in self.names if held[0] != name]
        self.names = tuple(sorted([*others, (name, kind, position)]))

    def unbind(self, name: str) -> None:
        """Delete a variable, as `del name` does."""
        self.names = tuple(held for held in self.names if held[0] != name)

    # -- Freezing ------------------------------------------------------------

    def frozen(self) -> Heap:
        """A heap equal to the draft, which goes on being written."""
        columns = {
            column: tuple(map(freeze, getattr(self, column))) for column in COLUMNS
        }
        return Heap(**columns, names=self.names, flags=self.flags)

    def shown(self) -> Heap:
        """
        The heap that the draft has become by now, the same one if nothing was written.

        What is written afterwards is copied first, so that of two that are shown the
        records that are one object were not written in between.
        """
        heap, last = self.sealed(), self._last
        self._written.clear()
        if last is None or not _same(heap, last):
            self._last = heap
            return heap
        return last

    def sealed(self) -> Heap:
        """The heap that the draft has become; it is written no more."""
        seal_all(self._written)
        return Heap(
            tensors=tuple(self.tensors),
            impls=tuple(self.impls),
            metas=tuple(self.metas),
            storages=tuple(self.storages),
            counters=tuple(self.counters),
            nodes=tuple(self.nodes),
            hooks=tuple(self.hooks),
            weakrefs=tuple(self.weakrefs),
            modules=tuple(self.modules),
            optimizers=tuple(self.optimizers),
            names=self.names,
            flags=self.flags,
        )


def _same(one: Heap, other: Heap) -> bool:
    """Whether two heaps hold the same records, not only equal ones."""
    if (one.names, one.flags, one.counters) != (
        other.names,
        other.flags,
        other.counters,
    ):
        return False
    return all(
        len(ours) == len(theirs) and all(map(is_, ours, theirs))
        for ours, theirs in (
            (getattr(one, column), getattr(other, column)) for column in COLUMNS
        )
        if ours is not one.counters
    )
