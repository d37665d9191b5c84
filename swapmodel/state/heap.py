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
    StorageId,
    TensorId,
    WeakrefId,
)
from swapmodel.state.tensors import Storage, Tensor, TensorImpl
from swapmodel.state.weakrefs import Weakref

R = TypeVar("R")

NO_FLAGS = Flags()
"""The switches as torch sets them at first."""


class Columns:
    """
    How a heap and its draft are read: by kind and position.

    A released position holds `None`; asking for it means that the model is wrong.
    """

    __slots__ = ()

    tensors: Sequence[Tensor | None]
    impls: Sequence[TensorImpl | None]
    metas: Sequence[AutogradMeta | None]
    storages: Sequence[Storage | None]
    counters: Sequence[int | None]
    nodes: Sequence[Node | None]
    hooks: Sequence[Hooks | None]
    weakrefs: Sequence[Weakref | None]
    modules: Sequence[Module | None]
    names: tuple[Held, ...]
    flags: Flags

    def tensor(self, t: TensorId) -> Tensor:
        """The Python tensor at *t*."""
        one = self.tensors[t]
        assert one is not None
        return one

    def impl(self, i: ImplId) -> TensorImpl:
        """The `TensorImpl` at *i*."""
        one = self.impls[i]
        assert one is not None
        return one

    def meta(self, i: ImplId) -> AutogradMeta:
        """The `AutogradMeta` of the impl at *i*."""
        one = self.metas[i]
        assert one is not None
        return one

    def impl_of(self, t: TensorId) -> TensorImpl:
        """The `TensorImpl` that *t* owns."""
        return self.impl(self.tensor(t).impl)

    def meta_of(self, t: TensorId) -> AutogradMeta:
        """The `AutogradMeta` of the impl that *t* owns."""
        return self.meta(self.tensor(t).impl)

    def storage(self, s: StorageId) -> Storage:
        """The storage at *s*."""
        one = self.storages[s]
        assert one is not None
        return one

    def version(self, c: CounterId) -> int:
        """The value of the version counter at *c*."""
        one = self.counters[c]
        assert one is not None
        return one

    def node(self, n: NodeId) -> Node:
        """The graph node at *n*."""
        one = self.nodes[n]
        assert one is not None
        return one

    def hooks_at(self, h: HooksId) -> Hooks:
        """The dict of hooks at *h*."""
        one = self.hooks[h]
        assert one is not None
        return one

    def weakref(self, w: WeakrefId) -> Weakref:
        """The weak reference at *w*."""
        one = self.weakrefs[w]
        assert one is not None
        return one

    def module(self, m: ModuleId) -> Module:
        """The module at *m*."""
        one = self.modules[m]
        assert one is not None
        return one

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

    tensors: tuple[Tensor | None, ...] = ()
    impls: tuple[TensorImpl | None, ...] = ()
    metas: tuple[AutogradMeta | None, ...] = ()
    storages: tuple[Storage | None, ...] = ()
    counters: tuple[int | None, ...] = ()
    nodes: tuple[Node | None, ...] = ()
    hooks: tuple[Hooks | None, ...] = ()
    weakrefs: tuple[Weakref | None, ...] = ()
    modules: tuple[Module | None, ...] = ()

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
)
"""The fields of a heap that are tuples of things."""


def living(column: Sequence[R | None]) -> Iterator[tuple[int, R]]:
    """Yield the positions that are not released, with what stands there."""
    for position, one in enumerate(column):
        if one is not None:
            yield position, one
