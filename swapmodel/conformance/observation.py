"""
What can Python see of a world?  Plain data, the same of a heap and of real torch.

Things are not named but numbered by the first place at which they stand, so that
two worlds are equal when their partitions are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from attrs import evolve, frozen

from swapmodel.conformance.survey import Survey, survey
from swapmodel.semantics import autograd_meta, ownership, tensors
from swapmodel.specfiles.texts import says
from swapmodel.state.heap import Heap, living
from swapmodel.state.ids import HooksId, NodeId, TensorId
from swapmodel.state.weakrefs import PYTHON_TYPES

FIELDS = (
    "is",
    "_cdata",
    "storage",
    "class",
    "isinstance Parameter",
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

NOWHERE = -1
"""The number of what is alive and stands at no place, or of a null storage."""


@frozen
class Observation:
    """One world between two actions, as Python sees it."""

    places: tuple[tuple[str, Row], ...]
    """Each place with its row of `FIELDS`, in the order of the walk."""

    nodes: tuple[tuple[str, int, tuple[int, ...]], ...]
    """The graph: each node's name, its variable's place, the nodes behind it."""

    weakrefs: tuple[tuple[str, str, int | None], ...]
    """Each weak reference: its variable, its type, what it yields."""

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
    reader = _HeapReader(heap)
    found = survey(reader)
    return Observation(
        places=rows(found, reader),
        nodes=tuple(found.nodes),
        weakrefs=tuple(reader.weakrefs(found)),
        flags=(("overwrite", heap.flags.overwrite), ("swap", heap.flags.swap)),
    )


def rows(found: Survey, reader: Any) -> tuple[tuple[str, Row], ...]:
    """The row of every place; *reader* makes that of an object's first place."""
    made = list[tuple[str, Row]]()
    for number, (place, t) in enumerate(found.places):
        first = found.first[reader.key(t)]
        row = reader.row(t, number, found) if first == number else (first,)
        made.append((place, row))
    return tuple(made)


class _HeapReader:
    """A heap, read as the walk wants it."""

    def __init__(self, heap: Heap) -> None:
        self.heap = heap
        self.impls: dict[int, int] = {}
        self.storages: dict[int, int] = {}

    def variables(self) -> Iterable[tuple[str, str, int]]:
        return self.heap.names

    def registered(self, module: Any) -> Iterable[tuple[str, TensorId]]:
        known = self.heap.module(module)
        for name, t in (*known.parameters, *known.buffers):
            if t is not None:
                yield name, t

    def children(self, module: Any) -> Iterable[tuple[str, int]]:
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
        return self.heap.meta_of(t).grad_fn

    def node(self, n: Any) -> tuple[str, TensorId | None, list[NodeId]]:
        node = self.heap.node(n)
        behind = [one for one in node.edges if one is not None]
        if node.variable is None:
            return node.name, None, behind
        return node.name, self.heap.impl(node.variable).pyobj, behind

    def weakrefs(self, found: Survey) -> Iterator[tuple[str, str, int | None]]:
        for name, kind, position in self.heap.names:
            if kind != "weakref":
                continue
            ref = self.heap.weakref(position)  # type: ignore[arg-type]
            if ref.type not in PYTHON_TYPES:
                yield name, ref.type, None if ref.impl is None else NOWHERE
            elif ref.tensor is None:
                yield name, ref.type, None
            else:
                yield name, ref.type, found.first.get(ref.tensor, NOWHERE)

    def row(self, t: TensorId, number: int, found: Survey) -> Row:
        heap = self.heap
        tensor, impl, meta = heap.tensor(t), heap.impl_of(t), heap.meta_of(t)
        storage, values = NOWHERE, None
        if impl.storage is not None and impl.length:
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
            meta.grad_fn is None,
            meta.retains_grad,
            None if meta.grad_fn is None else found.numbers[meta.grad_fn],
            None if grad is None else found.first[grad],
            None if base is None else found.first[base],
            heap.version(impl.counter),
            sum(1 for _ in ownership.owners(heap, tensor.impl)),
            self._listed(tensor.backward_hooks),
            self._listed(tensor.post_accumulate_grad_hooks),
            sum(1 for _, ref in living(heap.weakrefs) if ref.tensor == t),
        )

    def _listed(self, one: HooksId | None) -> tuple[str, ...] | None:
        return None if one is None else self.heap.hooks_at(one).entries


# -- How two of them differ ------------------------------------------------------


def differences(model: Result, torch: Result) -> dict[str, tuple[Any, Any]]:
    """
    Name everything in which two results differ, with the model's and torch's value.

    Where the model knows no values, torch's are not looked at.
    """
    if model == torch:
        return {}
    torch = evolve(torch, then=_forget_unknown(model.then, torch.then))
    if _errors_fit(model.errors, torch.errors):
        torch = evolve(torch, errors=model.errors)
    if model == torch:
        return {}
    pairs: dict[str, tuple[Any, Any]] = {
        "kind": (model.kind, torch.kind),
        "errors": (model.errors, torch.errors),
        "fired": (model.fired, torch.fired),
        "nodes": (model.then.nodes, torch.then.nodes),
        "weakrefs": (model.then.weakrefs, torch.then.weakrefs),
        "flags": (model.then.flags, torch.then.flags),
    }
    one, other = dict(model.then.places), dict(torch.then.places)
    for place in [*one, *(name for name in other if name not in one)]:
        pairs |= _of_place(place, one.get(place), other.get(place))
    return {key: both for key, both in pairs.items() if both[0] != both[1]}


def _errors_fit(
    model: tuple[tuple[str, str], ...], torch: tuple[tuple[str, str], ...]
) -> bool:
    return len(model) == len(torch) and all(
        kind in kinds.split(" | ") and says(text, actual)
        for (kinds, text), (kind, actual) in zip(model, torch, strict=True)
    )


def _of_place(
    place: str, one: Row | None, other: Row | None
) -> dict[str, tuple[Any, Any]]:
    if one is None or other is None or len(one) != len(other):
        return {place: (one, other)}
    both = zip(FIELDS, one, other, strict=False)
    return {f"{place}.{field}": (mine, theirs) for field, mine, theirs in both}


def _forget_unknown(model: Observation, torch: Observation) -> Observation:
    if len(model.places) != len(torch.places):
        return torch
    made = list[tuple[str, Row]]()
    for (_, mine), (place, theirs) in zip(model.places, torch.places, strict=True):
        known = len(mine) == 1 or len(theirs) == 1 or mine[VALUES] is not None
        made.append((place, theirs if known else _without_values(theirs)))
    return evolve(torch, places=tuple(made))


def _without_values(row: Row) -> Row:
    return (*row[:VALUES], None, *row[VALUES + 1 :])
