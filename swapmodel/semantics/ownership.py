"""
Who owns what, and what is still alive?  Derived from who points where.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any, Literal, TypeAlias

from swapmodel.state.autograd import NO_META
from swapmodel.state.draft import Draft
from swapmodel.state.events import Fired
from swapmodel.state.heap import Columns, living
from swapmodel.state.ids import (
    HooksId,
    ImplId,
    ModuleId,
    NodeId,
    OptimizerId,
    TensorId,
    WeakrefId,
)
from swapmodel.state.keepers import KEEPERS

OwnerKind: TypeAlias = Literal[
    "python object", "gradient", "AccumulateGrad", "saved", "view", "view function"
]

Owner: TypeAlias = tuple[OwnerKind, int]
"""A strong reference to an impl: its kind, and the position of who holds it."""


def owners(state: Columns, i: ImplId) -> Iterator[Owner]:
    """
    Yield every strong reference to an impl.

    Python variables, modules and containers are none: they own the Python object,
    which is one.  Source: `Tensor._use_count()` on 2.13.0, pytorch#117166.
    """
    yield ("python object", state.impl(i).pyobj)
    for holder, meta in enumerate(state.metas):
        if meta is None or meta is NO_META:
            continue
        if meta.grad == i:
            yield ("gradient", holder)
        if meta.base == i:
            yield ("view", holder)
        for replayed in meta.replayed:
            if replayed == i:
                yield ("view function", holder)
    for n, node in living(state.nodes):
        if node.variable == i:
            yield ("AccumulateGrad", n)
        for saved in node.saved:
            if saved.impl == i:
                yield ("saved", n)


def use_count(draft: Draft, t: TensorId) -> int:
    """
    `t._use_count()`, as a check inside an operation sees it.

    What nobody can reach any more must not count; it can only add to the count,
    so that it is looked for when there is more than the one owner.
    """
    i = draft.tensors[t].impl
    if not _may_have_others(draft, i):
        return 1
    collect(draft)
    return sum(1 for _ in owners(draft, i))


def _may_have_others(draft: Draft, i: ImplId) -> bool:
    """Whether anything but its Python object points at an impl, alive or not."""
    for meta in draft.metas:
        if (
            meta is not NO_META
            and meta is not None
            and i
            in (
                meta.grad,
                meta.base,
                *meta.replayed,
            )
        ):
            return True
    for node in draft.nodes:
        if node is not None and (node.variable == i or node.saved):
            return True
    return False


def weak_count(draft: Draft, t: TensorId) -> int:
    """How many C++ weak pointers (`weak_intrusive_ptr`) point at the impl of *t*."""
    i = draft.tensors[t].impl
    held = sum(ref.impl == i for _, ref in living(draft.weakrefs))
    return held + sum(node.retains == i for _, node in living(draft.nodes))


class Reached:
    """Everything that the roots reach, by kind and position."""

    def __init__(self, state: Columns) -> None:
        self.state = state
        self.tensors: set[TensorId] = set()
        self.impls: set[ImplId] = set()
        self.nodes: set[NodeId] = set()
        self.hooks: set[HooksId | None] = set()
        self.weakrefs: set[WeakrefId] = set()
        self.modules: set[ModuleId] = set()
        self.optimizers: set[OptimizerId] = set()
        for _, kind, position in state.names:
            if kind == "tensor":
                self.tensor(TensorId(position))
            elif kind == "module":
                self.module(ModuleId(position))
            elif kind == "optimizer":
                self.optimizer(OptimizerId(position))
            else:
                self.weakrefs.add(WeakrefId(position))

    def optimizer(self, o: OptimizerId) -> None:
        """Follow an optimizer to its parameters and its state."""
        self.optimizers.add(o)
        optimizer = self.state.optimizer(o)
        kept = [t for entry in optimizer.state for _, t in entry.tensors]
        for t in (*optimizer.parameters, *kept):
            if t not in self.tensors:
                self.tensor(t)

    def module(self, m: ModuleId) -> None:
        """Follow a module to its tensors, its children and its weak references."""
        if m in self.modules:
            return
        self.modules.add(m)
        module = self.state.module(m)
        for _, t in (*module.parameters, *module.buffers):
            if t is not None and t not in self.tensors:
                self.tensor(t)
        for _, child in module.children:
            self.module(child)
        for t in module.flat_weights:
            if t is not None and t not in self.tensors:
                self.tensor(t)
        self.weakrefs.update(w for w in module.flat_weight_refs if w is not None)

    def tensor(self, t: TensorId) -> None:
        """Follow a Python tensor to its impl, inner tensors and listed hooks."""
        self.tensors.add(t)
        tensor = self.state.tensor(t)
        if tensor.impl not in self.impls:
            self.impl(tensor.impl)
        for _, inner in tensor.inner:
            if inner not in self.tensors:
                self.tensor(inner)
        self.hooks.add(tensor.backward_hooks)
        self.hooks.add(tensor.post_accumulate_grad_hooks)

    def impl(self, i: ImplId) -> None:
        """
        Follow an impl, and to its Python object as well.

        An impl that anything else owns keeps its object alive: torch preserves it.
        """
        self.impls.add(i)
        pyobj = self.state.impl(i).pyobj
        if pyobj not in self.tensors:
            self.tensor(pyobj)
        meta = self.state.meta(i)
        if meta is NO_META:
            return
        for owned in (meta.grad, meta.base, *meta.replayed):
            if owned is not None and owned not in self.impls:
                self.impl(owned)
        if meta.grad_fn is not None and meta.grad_fn not in self.nodes:
            self.node(meta.grad_fn)
        self.hooks.update(meta.hooks)
        self.hooks.add(meta.post_accumulate_grad_hooks)

    def node(self, n: NodeId) -> None:
        """Follow a graph node to what it saved and to the nodes behind it."""
        self.nodes.add(n)
        node = self.state.node(n)
        if node.variable is not None and node.variable not in self.impls:
            self.impl(node.variable)
        for saved in node.saved:
            if saved.impl not in self.impls:
                self.impl(saved.impl)
        for edge in node.edges:
            if edge is not None and edge not in self.nodes:
                self.node(edge)
        self.hooks.update(node.hooks)
        self.hooks.add(node.post_hooks)


def collect(draft: Draft) -> None:
    """Release everything that neither a variable nor a running operation reaches."""
    reached = Reached(draft)
    for frame in draft.frames:
        for t in frame.tensors():
            if t not in reached.tensors:
                reached.tensor(t)
    _add_registered(draft, reached)
    _forget_the_dead(draft, reached)
    impls = [draft.impl(i) for i in reached.impls]
    _release(draft.tensors, reached.tensors)
    _release(draft.impls, reached.impls)
    _release(draft.metas, reached.impls)
    _release(draft.storages, {impl.storage for impl in impls})
    _release(draft.counters, {impl.counter for impl in impls})
    _release(draft.nodes, reached.nodes)
    _release(draft.hooks, reached.hooks)
    _release(draft.weakrefs, reached.weakrefs)
    _release(draft.modules, reached.modules)
    _release(draft.optimizers, reached.optimizers)


def _release(column: list[Any], reached: Set[object]) -> None:
    if len(column) != len(reached) - (None in reached):
        for position in range(len(column)):
            if position not in reached:
                column[position] = None


def _add_registered(draft: Draft, reached: Reached) -> None:
    """Reach what a registry keeps as long as the tensor lives, and calls then."""
    for w, ref in living(draft.weakrefs):
        if w in reached.weakrefs or not KEEPERS[ref.keeper].registered:
            continue
        if ref.tensor in reached.tensors:
            reached.weakrefs.add(WeakrefId(w))
        elif ref.tensor is not None:
            draft.events.append(Fired(ref.label, "weakref"))


def _forget_the_dead(draft: Draft, reached: Reached) -> None:
    """Clear the weak pointers to what is about to be released."""
    if draft.nodes:
        for i in reached.impls:
            node = draft.meta(i).accumulator
            if node is not None and node not in reached.nodes:
                draft.edit_meta(i).accumulator = None
    for n in reached.nodes:
        if (kept := draft.node(n).retains) is not None and kept not in reached.impls:
            draft.edit_node(n).retains = None
    for w in reached.weakrefs:
        ref = draft.weakref(w)
        if ref.tensor is not None and ref.tensor not in reached.tensors:
            draft.edit_weakref(w).tensor = None
            if KEEPERS[ref.keeper].calls_back:
                draft.events.append(Fired(ref.label, "weakref"))
        if ref.impl is not None and ref.impl not in reached.impls:
            draft.edit_weakref(w).impl = None
