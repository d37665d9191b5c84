"""
What can Python see of a world?  Plain data, the same of a heap and of real torch.

Things are not named but numbered by the first place at which they stand, so that
two worlds are equal when their partitions are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from attrs import frozen

from swapmodel.conformance import holders
from swapmodel.conformance.holders import NOWHERE, WeakrefRow
from swapmodel.conformance.survey import Survey, survey
from swapmodel.semantics import (
    autograd_meta,
    edges,
    ownership,
    places,
    tensors,
    weakrefs,
)
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from swapmodel.state.holders import held
from swapmodel.state.ids import HooksId, NodeId, TensorId

FIELDS = (
    "is",
    "_cdata",
    "storage",
    "class",
    "isinstance Parameter",
    "isinstance Buffer",
    "attributes",
    "_is_param",
    "inner",
    "slots",
    "dtype",
    "device",
    "offset",
    "length",
    "values",
    "requires_grad",
    "is_leaf",
    "retains_grad",
    "grad_fn",
    "grad",
    "_base",
    "_version",
    "_use_count()",
    "_backward_hooks",
    "_post_accumulate_grad_hooks",
    "weakrefs",
)
"""
What a row says, in order.  `is`, `_cdata` and `storage` give the number of the first
place that has the same; a place whose object was seen before says only which.
"""

VALUES = FIELDS.index("values")

Row: TypeAlias = tuple[Any, ...]


@frozen
class Observation:
    """One world between two actions, as Python sees it."""

    places: tuple[tuple[str, Row], ...]
    """Each place with its row of `FIELDS`, in the order of the walk."""

    nodes: tuple[tuple[str, int, tuple[int, ...]], ...]
    """The graph: each node's name, its variable's place, the nodes behind it."""

    modules: tuple[tuple[str, Row], ...]
    """Each place of a module: the first place of the same one, and if it is that one
    the names that it has for things, and what its weak references yield."""

    weakrefs: tuple[WeakrefRow, ...]
    """Each weak reference: its variable, its keeper, what it yields and hands out."""

    flags: tuple[tuple[str, bool], ...]
    """The switches of `torch.__future__`."""


@frozen
class Result:
    """What one action came to, as Python sees it."""

    kind: str
    """`done` or `refused`."""

    errors: tuple[tuple[str, str], ...]
    """
    Type and text of the exception and of what caused it, outermost first.

    The model's may name several types, with ` | ` between them, and leave out a part
    of a text, with `...` in its place.
    """

    fired: tuple[str, ...]
    """The labels of the hooks that ran, in order."""

    then: Observation


# -- The world as a heap ---------------------------------------------------------


def observe(heap: Heap) -> Observation:
    """Say what Python would see of *heap*."""
    return look(heap)[0]


def look(heap: Heap) -> tuple[Observation, Heap]:
    """
    Say what Python would see of *heap*, and what looking leaves of it.

    A stale view that is asked for its node makes it again.
    """
    draft = Draft(heap)
    reader = _HeapReader(draft)
    found = survey(reader)
    ownership.collect(draft)
    seen = Observation(
        places=rows(found, reader),
        nodes=tuple(found.nodes),
        modules=module_rows(found, reader),
        weakrefs=tuple(reader.weakrefs(found)),
        flags=(("overwrite", heap.flags.overwrite), ("swap", heap.flags.swap)),
    )
    return seen, draft.sealed()


def rows(found: Survey, reader: Any) -> tuple[tuple[str, Row], ...]:
    """The row of every place; *reader* makes that of an object's first place."""
    made = list[tuple[str, Row]]()
    for number, (place, t) in enumerate(found.places):
        first = found.first[reader.key(t)]
        row = reader.row(t, number, found) if first == number else (first,)
        made.append((place, row))
    return tuple(made)


def module_rows(found: Survey, reader: Any) -> tuple[tuple[str, Row], ...]:
    """The row of every place of a module; *reader* tells what a module holds."""
    made = list[tuple[str, Row]]()
    for number, (place, module) in enumerate(found.modules):
        first = found.first_module[reader.key(module)]
        held = reader.holds(module, found) if first == number else ()
        made.append((place, (first, *held)))
    return tuple(made)


class _HeapReader:
    """A heap, read as the walk wants it, in a draft."""

    def __init__(self, heap: Draft) -> None:
        self.heap = heap
        self.refused: set[TensorId] = set()
        self.impls: dict[int, int] = {}
        self.storages: dict[int, int] = {}

    def variables(self) -> Iterable[tuple[str, str, Any]]:
        for name, kind, position in self.heap.names:
            optimizer = kind == "optimizer"
            yield name, kind, (kind, position) if optimizer else position

    def registered(self, module: Any) -> Iterable[tuple[str, TensorId]]:
        if isinstance(module, tuple):
            yield from places.in_optimizer(self.heap, module[1])
            return
        known = self.heap.module(module)
        flat = [(f"_flat_weights[{n}]", t) for n, t in enumerate(known.flat_weights)]
        for name, t in (*held(known), *flat):
            if t is not None:
                yield name, t

    def holds(self, module: Any, found: Survey) -> Iterator[Any]:
        if isinstance(module, tuple):
            yield from holders.optimizer_row(self.heap, module[1])
            return
        known = self.heap.module(module)
        yield known.cls
        for listed in (known.parameters, known.buffers, known.children):
            yield tuple([name for name, _ in listed])
        if known.attributes:
            yield tuple([name for name, _ in known.attributes])
        refs = [
            None if w is None else self.heap.weakref(w) for w in known.flat_weight_refs
        ]
        yield tuple(
            [
                None
                if ref is None or ref.tensor is None
                else found.first.get(ref.tensor, NOWHERE)
                for ref in refs
            ]
        )

    def children(self, module: Any) -> Iterable[tuple[str, int]]:
        if isinstance(module, tuple):
            return ()
        return self.heap.module(module).children

    def key(self, thing: Any) -> Any:
        return thing

    def leads(self, t: Any) -> Iterator[tuple[str, TensorId]]:
        yield from self.heap.tensor(t).inner
        meta = self.heap.meta_of(t)
        if meta.grad is not None:
            yield "grad", self.heap.impl(meta.grad).pyobj
        if meta.base is not None:
            yield "_base", self.heap.impl(meta.base).pyobj

    def grad_fn(self, t: Any) -> NodeId | None:
        node = edges.grad_fn(self.heap, t)
        if node is None or isinstance(node, int):
            return node
        self.refused.add(t)
        return None

    def node(self, n: Any) -> tuple[str, TensorId | None, list[NodeId]]:
        node = self.heap.node(n)
        behind = [one for one in node.edges if one is not None]
        if node.variable is None:
            return node.name, None, behind
        return node.name, self.heap.impl(node.variable).pyobj, behind

    def weakrefs(self, found: Survey) -> Iterator[WeakrefRow]:
        return holders.weakref_rows(self.heap, found)

    def row(self, t: TensorId, number: int, found: Survey) -> Row:
        heap = self.heap
        tensor, impl, meta = heap.tensor(t), heap.impl_of(t), heap.meta_of(t)
        storage, values = NOWHERE, None
        if impl.storage is not None and impl.length and impl.device != "meta":
            storage = self.storages.setdefault(impl.storage, number)
            values = heap.storage(impl.storage).values
        if values is not None:
            values = values[impl.offset : impl.offset + impl.length]
        grad = None if meta.grad is None else heap.impl(meta.grad).pyobj
        base = None if meta.base is None else heap.impl(meta.base).pyobj
        return (
            number,
            self.impls.setdefault(tensor.impl, number),
            storage,
            tensor.cls,
            tensors.is_parameter(heap, t),
            tensors.is_buffer(heap, t),
            tensor.attributes,
            tensor.is_param,
            tuple([name for name, _ in tensor.inner]),
            tensor.slots,
            impl.dtype,
            impl.device,
            impl.offset,
            impl.length,
            values,
            autograd_meta.requires_grad(heap, t),
            None if t in self.refused else meta.grad_fn is None,
            meta.retains_grad,
            self._number(t, found),
            None if grad is None else found.first[grad],
            None if base is None else found.first[base],
            heap.version(impl.counter),
            sum(1 for _ in ownership.owners(heap, tensor.impl)),
            self._listed(tensor.backward_hooks),
            self._listed(tensor.post_accumulate_grad_hooks),
            tuple(weakrefs.python_types(heap, t)),
        )

    def _number(self, t: TensorId, found: Survey) -> int | None:
        grad_fn = self.heap.meta_of(t).grad_fn
        refused = t in self.refused or grad_fn is None
        return None if refused else found.numbers[grad_fn]

    def _listed(self, one: HooksId | None) -> tuple[str, ...] | None:
        return None if one is None else self.heap.hooks_at(one).entries
