"""
What is the heap while one action runs?  The same records, written in place.

Only `semantics.step` makes a draft and freezes it; nothing keeps one afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeAlias, cast

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
    StorageId,
    TensorId,
    WeakrefId,
)
from swapmodel.state.record import freeze, is_thawed, thaw
from swapmodel.state.tensors import Storage, Tensor, TensorImpl
from swapmodel.state.weakrefs import Weakref

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
    writing, `add_...` appends one; columns are copied on the first of either.
    """

    __slots__ = (*COLUMNS, "_heap", "events", "flags", "frames", "names", "watch")

    def __init__(self, heap: Heap, watch: Watch | None = None) -> None:
        self._heap = heap
        for column in COLUMNS:
            setattr(self, column, getattr(heap, column))
        self.names = heap.names
        self.flags = heap.flags
        self.watch = watch
        self.events: list[Event] = []
        self.frames: list[Locals] = []

    # -- Writing -------------------------------------------------------------

    def edit_tensor(self, t: TensorId) -> Tensor:
        """The Python tensor at *t*, for writing."""
        return cast(Tensor, self._edit("tensors", t))

    def edit_impl(self, i: ImplId) -> TensorImpl:
        """The `TensorImpl` at *i*, for writing."""
        return cast(TensorImpl, self._edit("impls", i))

    def edit_meta(self, i: ImplId) -> AutogradMeta:
        """The `AutogradMeta` of the impl at *i*, for writing."""
        return cast(AutogradMeta, self._edit("metas", i))

    def edit_storage(self, s: StorageId) -> Storage:
        """The storage at *s*, for writing."""
        return cast(Storage, self._edit("storages", s))

    def edit_node(self, n: NodeId) -> Node:
        """The graph node at *n*, for writing."""
        return cast(Node, self._edit("nodes", n))

    def edit_hooks(self, h: HooksId) -> Hooks:
        """The dict of hooks at *h*, for writing."""
        return cast(Hooks, self._edit("hooks", h))

    def edit_weakref(self, w: WeakrefId) -> Weakref:
        """The weak reference at *w*, for writing."""
        return cast(Weakref, self._edit("weakrefs", w))

    def edit_module(self, m: ModuleId) -> Module:
        """The module at *m*, for writing."""
        return cast(Module, self._edit("modules", m))

    def bump_version(self, i: ImplId) -> None:
        """Count one write in place on the impl at *i*."""
        counter = self.impl(i).counter
        self._rows("counters")[counter] = self.version(counter) + 1

    # -- Adding and releasing ------------------------------------------------

    def add_tensor(self, tensor: Tensor) -> TensorId:
        """Append a Python tensor."""
        return TensorId(self._add("tensors", tensor))

    def add_impl(self, impl: TensorImpl, meta: AutogradMeta) -> ImplId:
        """Append an impl together with its autograd metadata."""
        self._add("metas", meta)
        return ImplId(self._add("impls", impl))

    def add_storage(self, storage: Storage) -> StorageId:
        """Append a storage."""
        return StorageId(self._add("storages", storage))

    def add_counter(self) -> CounterId:
        """Append a version counter that has counted nothing."""
        return CounterId(self._add("counters", 0))

    def add_node(self, node: Node) -> NodeId:
        """Append a graph node."""
        return NodeId(self._add("nodes", node))

    def add_hooks(self) -> HooksId:
        """Append an empty dict of hooks."""
        return HooksId(self._add("hooks", Hooks()))

    def add_weakref(self, weakref: Weakref) -> WeakrefId:
        """Append a weak reference."""
        return WeakrefId(self._add("weakrefs", weakref))

    def add_module(self, module: Module) -> ModuleId:
        """Append a module."""
        return ModuleId(self._add("modules", module))

    def release(self, column: str, position: int) -> None:
        """Give up a position for good."""
        self._rows(column)[position] = None

    def bind(self, name: str, kind: Kind, position: int) -> None:
        """Assign a variable, as `name = ...` does."""
        others = [held for held in self.names if held[0] != name]
        self.names = tuple(sorted([*others, (name, kind, position)]))

    def unbind(self, name: str) -> None:
        """Delete a variable, as `del name` does."""
        self.names = tuple(held for held in self.names if held[0] != name)

    # -- Freezing ------------------------------------------------------------

    def frozen(self) -> Heap:
        """A heap equal to the draft; what was not written is shared with it."""
        columns = {column: self._frozen_column(column) for column in COLUMNS}
        return Heap(**columns, names=self.names, flags=self.flags)

    def _frozen_column(self, column: str) -> tuple[Any, ...]:
        rows = getattr(self, column)
        if type(rows) is tuple:
            return rows
        return tuple([freeze(one) if is_thawed(one) else one for one in rows])

    def _rows(self, column: str) -> list[Any]:
        rows = getattr(self, column)
        if type(rows) is tuple:
            rows = list(rows)
            setattr(self, column, rows)
        return cast("list[Any]", rows)

    def _edit(self, column: str, position: int) -> object:
        rows = self._rows(column)
        one = rows[position]
        assert one is not None, f"{column}[{position}] was released"
        if not is_thawed(one):
            one = rows[position] = thaw(one)
        return one

    def _add(self, column: str, one: object) -> int:
        rows = self._rows(column)
        rows.append(one)
        return len(rows) - 1
