"""
What can Python see of real torch?  The same rows as of a heap.

What is read here owns no tensor afterwards.  Looking changes one thing, in torch and in
the model: a stale view that is asked for its node makes it again.
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from swapmodel.conformance import abilities, keepers
from swapmodel.conformance.elements import elements, is_large, whole, window
from swapmodel.conformance.holders import NOWHERE, WeakrefRow
from swapmodel.conformance.observation import (
    Observation,
    Row,
    module_rows,
    rows,
)
from swapmodel.conformance.optimizers import in_optimizer, state_of
from swapmodel.conformance.survey import Survey, survey
from swapmodel.semantics.payloads import MODULUS
from swapmodel.state.keepers import KEEPERS

FLAGS = ("overwrite", "swap")

_DTYPES: dict[Any, str] = {}

UNREAD, REFUSED = object(), object()
"""Stand for a node that was not asked for yet, and for one that torch refuses."""


def observe_world(variables: dict[str, Any]) -> Observation:
    """Say what Python sees from these variables."""
    return seen_by(TorchReader(variables))


def seen_by(reader: TorchReader) -> Observation:
    """Say what Python sees as a reader tells it."""
    # A class may refuse to be looked at, or convert what is seen.
    with torch._C.DisableTorchFunctionSubclass():
        found = survey(reader)
        return Observation(
            places=rows(found, reader),
            nodes=tuple(found.nodes),
            modules=module_rows(found, reader),
            weakrefs=tuple(reader.weakrefs(found)),
            flags=tuple([(name, abilities.flag(name)) for name in FLAGS]),
        )


def keep_small(variables: dict[str, Any]) -> None:
    """
    Bring all values back below the modulus, behind torch's back.

    The write goes through another tensor over the same storage, which has a version
    counter of its own.
    """
    with torch._C.DisableTorchFunctionSubclass():
        for _, t in survey(_MemoryReader(variables)).places:
            if t.data_ptr() and is_large(elements(t)):
                window(t).real.remainder_(MODULUS)


class TorchReader:
    """Real torch, read as the walk wants it."""

    def __init__(self, variables: dict[str, Any]) -> None:
        self.names = variables
        self.impls: dict[int, int] = {}
        self.storages: dict[int, int] = {}
        self.grad_fns: dict[int, Any] = {}

    def variables(self) -> Iterator[tuple[str, str, Any]]:
        """Every variable that holds what the walk can follow."""
        for name in sorted(self.names):
            thing = self.names[name]
            if isinstance(thing, torch.Tensor):
                yield name, "tensor", thing
            elif isinstance(thing, torch.nn.Module):
                yield name, "module", thing
            elif isinstance(thing, torch.optim.Optimizer):
                yield name, "optimizer", thing

    def registered(self, module: Any) -> Iterator[tuple[str, Any]]:
        """What a module or an optimizer lists, parameters first."""
        if isinstance(module, torch.optim.Optimizer):
            yield from in_optimizer(module)
            return
        flat = {
            f"_flat_weights[{n}]": t
            for n, t in enumerate(getattr(module, "_flat_weights", ()))
        }
        plain = _plain_tensors(module)
        for listed in (plain, module._parameters, module._buffers, flat):
            for name, t in listed.items():
                if t is not None:
                    yield name, t

    def holds(self, module: Any, found: Survey) -> Iterator[Any]:
        """What a module or an optimizer says of itself, beside its tensors."""
        if isinstance(module, torch.optim.Optimizer):
            yield type(module).__name__
            if len(module.param_groups) > 1:
                yield len(module.param_groups)
            for key, kept in state_of(module):
                yield key, tuple(kept)
            return
        yield module._get_name()
        for listed in (module._parameters, module._buffers):
            yield tuple(listed)
        yield tuple([name for name, _ in self.children(module)])
        plain = _plain_tensors(module)
        if plain:
            yield tuple(plain)
        refs = [one and one() for one in getattr(module, "_flat_weight_refs", ())]
        yield tuple(
            [None if t is None else found.first.get(id(t), NOWHERE) for t in refs]
        )

    def children(self, module: Any) -> Iterable[tuple[str, Any]]:
        """The children of a module; an optimizer has none."""
        if isinstance(module, torch.optim.Optimizer):
            return ()
        listed = module._modules.items()
        return [(name, child) for name, child in listed if child is not None]

    def key(self, thing: Any) -> int:
        """What is one for one object."""
        return id(thing)

    def leads(self, t: Any) -> Iterator[tuple[str, Any]]:
        """The tensors in `t.__dict__`, the gradient and the base."""
        yield from self.inner(t)
        grad = t.grad
        if grad is not None:
            yield "grad", grad
        base = t._base
        if base is not None:
            yield "_base", base

    def grad_fn(self, t: Any) -> Any:
        """Read the node once, because reading it can make it, or be refused."""
        known = self.grad_fns.get(id(t), UNREAD)
        if known is UNREAD:
            try:
                known = t.grad_fn
            except RuntimeError:
                known = REFUSED
            self.grad_fns[id(t)] = known
        return None if known is REFUSED else known

    def node(self, n: Any) -> tuple[str, Any, list[Any]]:
        """A node's name, its variable, the nodes behind it."""
        behind = [one for one, _ in n.next_functions if one is not None]
        return type(n).__name__, getattr(n, "variable", None), behind

    def weakrefs(self, found: Survey) -> Iterator[WeakrefRow]:
        """Every variable that holds a weak reference, in order."""
        for name in sorted(self.names):
            kept = self.names[name]
            if not isinstance(kept, keepers.Kept):
                continue
            if kept.keeper == "_WeakTensorRef":
                yield name, kept.keeper, None if kept.thing.expired() else NOWHERE, ()
                continue
            t = keepers.yields(kept)
            place = None if t is None else found.first.get(id(t), NOWHERE)
            yield name, kept.keeper, place, tuple(self.handed_out(kept, t, found))

    def handed_out(self, kept: keepers.Kept, t: Any, found: Survey) -> Iterator[Any]:
        """What a keeper hands out for what it was filled with."""
        promise = KEEPERS[kept.keeper]
        if promise.notes:
            yield kept.noted, t is not None and keepers.metadata(t) == kept.noted
        if promise.asked:
            for number, (_, one) in enumerate(found.places):
                first = found.first[id(one)] == number
                if first and (promise.asked == "identity" or one.data_ptr()):
                    answer = keepers.finds(kept, one)
                    if answer:
                        yield number, answer

    # -- What of a tensor is told as it is, and may be told in other words -----------

    def offset(self, t: Any) -> int:
        """`t.storage_offset()`."""
        return int(t.storage_offset())

    def length(self, t: Any) -> int:
        """`t.numel()`."""
        return int(t.numel())

    def values(self, t: Any) -> tuple[Any, ...]:
        """The elements."""
        return tuple([whole(one) for one in elements(t)])

    def inner(self, t: Any) -> list[tuple[str, Any]]:
        """The tensors in `t.__dict__`."""
        listed = t.__dict__.items()
        return [one for one in listed if isinstance(one[1], torch.Tensor)]

    def attributes(self, t: Any) -> tuple[Any, ...]:
        """What is in `t.__dict__` and no tensor, in order of name."""
        hidden = {"_is_param", *[name for name, _ in self.inner(t)]}
        listed = t.__dict__.items()
        return tuple(sorted([one for one in listed if one[0] not in hidden]))

    def slots(self, t: Any) -> tuple[tuple[str, Any], ...]:
        """The slots that are set, in order of name."""
        names = copyreg._slotnames(type(t))  # type: ignore[attr-defined]
        held = [(name, getattr(t, name)) for name in names if hasattr(t, name)]
        return tuple(sorted(held))

    def class_name(self, t: Any) -> str:
        """The name of the class."""
        return type(t).__name__

    def labels(self, listed: dict[int, Any] | None) -> tuple[str, ...] | None:
        """What is listed in a dict of hooks."""
        return None if listed is None else tuple([one.label for one in listed.values()])

    # -- One row ---------------------------------------------------------------------

    def row(self, t: Any, number: int, found: Survey) -> Row:
        """One row of `FIELDS`."""
        entries = t.__dict__
        address = t.data_ptr()
        storage, values = NOWHERE, None
        if address:
            start = address - t.storage_offset() * t.element_size()
            storage = self.storages.setdefault(start, number)
            values = self.values(t)
        grad, base, grad_fn = t.grad, t._base, self.grad_fn(t)
        return (
            number,
            self.impls.setdefault(t._cdata, number),
            storage,
            self.class_name(t),
            isinstance(t, torch.nn.Parameter),
            abilities.is_buffer(t),
            self.attributes(t),
            bool(entries.get("_is_param", False)),
            tuple([name for name, _ in self.inner(t)]),
            self.slots(t),
            _dtype(t.dtype),
            t.device.type,
            self.offset(t),
            self.length(t),
            values,
            t.requires_grad,
            None if self.grad_fns[id(t)] is REFUSED else t.is_leaf,
            t.retains_grad,
            None if grad_fn is None else found.numbers[id(grad_fn)],
            None if grad is None else found.first[id(grad)],
            None if base is None else found.first[id(base)],
            t._version,
            abilities.use_count(t),
            self.labels(t._backward_hooks),
            self.labels(t._post_accumulate_grad_hooks),
            tuple(keepers.python_types(t)),
        )


class _MemoryReader(TorchReader):
    """The same for who only wants every tensor: asking a view for a node is a write."""

    def grad_fn(self, t: Any) -> Any:
        return None if t._base is not None else t.grad_fn


def _dtype(dtype: Any) -> str:
    name = _DTYPES.get(dtype)
    if name is None:
        name = _DTYPES[dtype] = str(dtype).removeprefix("torch.")
    return name


def _plain_tensors(module: Any) -> dict[str, Any]:
    """The tensors in a module's `__dict__`, in their order."""
    entries = module.__dict__.items()
    return {name: one for name, one in entries if isinstance(one, torch.Tensor)}
