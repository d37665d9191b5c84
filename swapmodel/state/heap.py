"""
What is one complete state between actions?
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from attrs import frozen

from swapmodel.state.autograd import AutogradMeta, Hooks, Node
from swapmodel.state.holders import Flags, Module
from swapmodel.state.ids import (
    CounterId,
    Held,
    HooksId,
    ImplId,
    ModuleId,
    NodeId,
    OptimizerId,
    StorageId,
    TensorId,
    WeakrefId,
)
from swapmodel.state.optimizers import Optimizer
from swapmodel.state.tensors import Storage, Tensor, TensorImpl
from swapmodel.state.weakrefs import Weakref

R = TypeVar("R")

NO_FLAGS = Flags()
"""The switches as torch sets them at first."""


class Columns:
    """
    How a heap and its draft are read: by kind and position.

    A released position holds `None`, which is no record: reading one means that the
    model is wrong, and fails.  `living` skips them.
    """

    __slots__ = ()

    tensors: Sequence[Tensor]
    impls: Sequence[TensorImpl]
    metas: Sequence[AutogradMeta]
    storages: Sequence[Storage]
    counters: Sequence[int]
    nodes: Sequence[Node]
    hooks: Sequence[Hooks]
    weakrefs: Sequence[Weakref]
    modules: Sequence[Module]
    optimizers: Sequence[Optimizer]
    names: tuple[Held, ...]
    flags: Flags

    def tensor(self, t: TensorId) -> Tensor:
        """The Python tensor at *t*."""
        return self.tensors[t]

    def impl(self, i: ImplId) -> TensorImpl:
        """The `TensorImpl` at *i*."""
        return self.impls[i]

    def meta(self, i: ImplId) -> AutogradMeta:
        """The `AutogradMeta` of the impl at *i*."""
        return self.metas[i]

    def impl_of(self, t: TensorId) -> TensorImpl:
        """The `TensorImpl` that *t* owns."""
        return self.impls[self.tensors[t].impl]

    def meta_of(self, t: TensorId) -> AutogradMeta:
        """The `AutogradMeta` of the impl that *t* owns."""
        return self.metas[self.tensors[t].impl]

    def storage(self, s: StorageId) -> Storage:
        """The storage at *s*."""
        return self.storages[s]

    def version(self, c: CounterId) -> int:
        """The value of the version counter at *c*."""
        return self.counters[c]

    def node(self, n: NodeId) -> Node:
        """The graph node at *n*."""
        return self.nodes[n]

    def hooks_at(self, h: HooksId) -> Hooks:
        """The dict of hooks at *h*."""
        return self.hooks[h]

    def weakref(self, w: WeakrefId) -> Weakref:
        """The weak reference at *w*."""
        return self.weakrefs[w]

    def module(self, m: ModuleId) -> Module:
        """The module at *m*."""
        return self.modules[m]

    def optimizer(self, o: OptimizerId) -> Optimizer:
        """The optimizer at *o*."""
        return self.optimizers[o]

    def grad_of(self, t: TensorId) -> TensorId | None:
        """The Python tensor that `t.grad` gives."""
        grad = self.meta_of(t).grad
        return None if grad is None else self.impl(grad).pyobj


@frozen(kw_only=True)
class Heap(Columns):
    """
    One complete state between actions: frozen, comparable, hashable.

    Each kind of thing has a tuple of its own, and a thing is its position there.
    """

    tensors: tuple[Tensor, ...] = ()
    impls: tuple[TensorImpl, ...] = ()
    metas: tuple[AutogradMeta, ...] = ()
    storages: tuple[Storage, ...] = ()
    counters: tuple[int, ...] = ()
    nodes: tuple[Node, ...] = ()
    hooks: tuple[Hooks, ...] = ()
    weakrefs: tuple[Weakref, ...] = ()
    modules: tuple[Module, ...] = ()
    optimizers: tuple[Optimizer, ...] = ()

    names: tuple[Held, ...] = ()
    """The program's variables, sorted by name: the roots of everything."""

    flags: Flags = NO_FLAGS
    """The switches of `torch.__future__`."""


COLUMNS = (
    "tensors",
    "impls",
    "metas",
    "storages",
    "counters",
    "nodes",
    "hooks",
    "weakrefs",
    "modules",
    "optimizers",
)
"""The fields of a heap that are tuples of things."""


def living(column: Sequence[R]) -> Iterator[tuple[int, R]]:
    """Yield the positions that are not released, with what stands there."""
    for position, one in enumerate(column):
        if one is not None:
            yield position, one
