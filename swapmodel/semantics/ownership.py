"""
Who owns what, and what is still alive?  Derived from who points where.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any, Literal, TypeAlias

from swapmodel.state.autograd import NO_META, AutogradMeta
from swapmodel.state.draft import Draft
from swapmodel.state.events import Fired
from swapmodel.state.heap import Columns, living
from swapmodel.state.holders import held
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
from swapmodel.state.optimizers import parameters

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
        if meta is NO_META or meta is None:
            continue
        if meta.grad == i or meta.base == i or i in meta.replayed:
            return True
    for node in draft.nodes:
        if node is not None and (node.variable == i or node.saved):
            return True
    return False


def weak_count(draft: Draft, t: TensorId) -> int:
    """How many C++ weak pointers (`weak_intrusive_ptr`) point at the impl of *t*."""
    i = draft.tensors[t].impl
    held = [ref for ref in draft.weakrefs if ref is not None and ref.impl == i]
    kept = [one for one in draft.nodes if one is not None and one.retains == i]
    return len(held) + len(kept)


class Reached:
    """Everything that the roots reach, by kind and position."""

    def __init__(self, state: Columns, held: Iterable[TensorId] = ()) -> None:
        self.state = state
        self.tensors: set[TensorId] = set()
        self.nodes: set[NodeId] = set()
        self.hooks: set[HooksId] = set()
        self.weakrefs: set[WeakrefId] = set()
        self.modules: set[ModuleId] = set()
        self.optimizers: set[OptimizerId] = set()
        self._tensors_ahead: list[TensorId] = [*held]
        self._nodes_ahead: list[NodeId] = []
        for _, kind, position in state.names:
            if kind == "tensor":
                self._tensors_ahead.append(TensorId(position))
            elif kind == "module":
                self._module(ModuleId(position))
            elif kind == "optimizer":
                self._optimizer(OptimizerId(position))
            else:
                self.weakrefs.add(WeakrefId(position))
        self._follow()

    def _follow(self) -> None:
        while self._tensors_ahead or self._nodes_ahead:
            while self._tensors_ahead:
                t = self._tensors_ahead.pop()
                if t not in self.tensors:
                    self._tensor(t)
            while self._nodes_ahead:
                n = self._nodes_ahead.pop()
                if n not in self.nodes:
                    self._node(n)

    def _optimizer(self, o: OptimizerId) -> None:
        """Follow an optimizer to its parameters and its state."""
        self.optimizers.add(o)
        optimizer = self.state.optimizers[o]
        self._tensors_ahead += parameters(optimizer)
        for entry in optimizer.state:
            self._tensors_ahead += [t for _, t in entry.tensors]

    def _module(self, m: ModuleId) -> None:
        """Follow a module to its tensors, its children and its weak references."""
        if m in self.modules:
            return
        self.modules.add(m)
        module = self.state.modules[m]
        ahead = self._tensors_ahead
        ahead += [t for _, t in held(module) if t is not None]
        ahead += [t for t in module.flat_weights if t is not None]
        for _, child in module.children:
            self._module(child)
        self.weakrefs.update(w for w in module.flat_weight_refs if w is not None)

    def _tensor(self, t: TensorId) -> None:
        """
        Follow a Python tensor to its impl, inner tensors and listed hooks.

        And an impl to its Python object: whatever owns one keeps the other alive,
        because torch preserves the object.
        """
        self.tensors.add(t)
        tensor = self.state.tensors[t]
        if tensor.inner:
            self._tensors_ahead += [inner for _, inner in tensor.inner]
        if tensor.backward_hooks is not None:
            self.hooks.add(tensor.backward_hooks)
        if tensor.post_accumulate_grad_hooks is not None:
            self.hooks.add(tensor.post_accumulate_grad_hooks)
        meta = self.state.metas[tensor.impl]
        if meta is not NO_META:
            self._meta(meta)

    def _meta(self, meta: AutogradMeta) -> None:
        """Follow what autograd knows of an impl to what it owns."""
        if meta.grad is not None:
            self._impl(meta.grad)
        if meta.base is not None:
            self._impl(meta.base)
        for replayed in meta.replayed:
            self._impl(replayed)
        if meta.grad_fn is not None:
            self._nodes_ahead.append(meta.grad_fn)
        self.hooks.update(meta.hooks)
        if meta.post_accumulate_grad_hooks is not None:
            self.hooks.add(meta.post_accumulate_grad_hooks)

    def _impl(self, i: ImplId) -> None:
        self._tensors_ahead.append(self.state.impls[i].pyobj)

    def _node(self, n: NodeId) -> None:
        """Follow a graph node to what it saved and to the nodes behind it."""
        self.nodes.add(n)
        node = self.state.nodes[n]
        if node.variable is not None:
            self._impl(node.variable)
        for saved in node.saved:
            self._impl(saved.impl)
        self._nodes_ahead += [edge for edge in node.edges if edge is not None]
        self.hooks.update(node.hooks)
        if node.post_hooks is not None:
            self.hooks.add(node.post_hooks)


def collect(draft: Draft) -> None:
    """Release everything that neither a variable nor a running operation reaches."""
    held = [t for frame in draft.frames for t in frame.tensors()]
    reached = Reached(draft, held)
    if draft.weakrefs:
        _add_registered(draft, reached)
    impls = {draft.tensors[t].impl for t in reached.tensors}
    if draft.nodes or draft.weakrefs:
        _forget_the_dead(draft, reached, impls)
    _release(draft.tensors, reached.tensors)
    _release(draft.impls, impls)
    _release(draft.metas, impls)
    _release(draft.nodes, reached.nodes)
    _release(draft.hooks, reached.hooks)
    _release(draft.weakrefs, reached.weakrefs)
    _release(draft.modules, reached.modules)
    _release(draft.optimizers, reached.optimizers)
    alive = [impl for impl in draft.impls if impl is not None]
    _release(draft.storages, {impl.storage for impl in alive} - NOTHING)
    _release(draft.counters, {impl.counter for impl in alive})


NOTHING = frozenset((None,))
"""A null storage is at no position."""


def _release(column: list[Any], reached: Set[int | None]) -> None:
    if len(column) - column.count(None) == len(reached):
        return
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


def _forget_the_dead(draft: Draft, reached: Reached, impls: set[ImplId]) -> None:
    """Clear the weak pointers to what is about to be released."""
    if draft.nodes:
        for i in impls:
            node = draft.meta(i).accumulator
            if node is not None and node not in reached.nodes:
                draft.edit_meta(i).accumulator = None
    for n in reached.nodes:
        if (kept := draft.node(n).retains) is not None and kept not in impls:
            draft.edit_node(n).retains = None
    for w in reached.weakrefs:
        ref = draft.weakref(w)
        if ref.tensor is not None and ref.tensor not in reached.tensors:
            draft.edit_weakref(w).tensor = None
            if KEEPERS[ref.keeper].calls_back:
                draft.events.append(Fired(ref.label, "weakref"))
        if ref.impl is not None and ref.impl not in impls:
            draft.edit_weakref(w).impl = None
