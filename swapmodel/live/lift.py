"""
How is a live module read into a heap?

What stands for what: every Python tensor, impl, storage and version counter is one of
the model's; elements are told as `windows` says, by numbers that only say which element
is which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from warnings import catch_warnings, simplefilter

import torch
from attrs import frozen

from swapmodel.conformance.survey import Survey, survey
from swapmodel.live import holders, kinds
from swapmodel.live.counters import shared_counters
from swapmodel.live.holders import Numbers
from swapmodel.live.reader import LiveReader
from swapmodel.live.reasons import NotLifted
from swapmodel.live.windows import Memory, Piece, is_wrapper, memory_of
from swapmodel.semantics import ownership
from swapmodel.semantics.payloads import DIFFERENTIABLE, INTEGERS
from swapmodel.state.autograd import NO_META, AutogradMeta, Hooks
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from swapmodel.state.holders import Flags
from swapmodel.state.ids import CounterId, HooksId, ImplId, StorageId, TensorId
from swapmodel.state.tensors import Storage, Tensor, TensorImpl

DEVICES = ("cpu", "meta", "cuda")


@frozen
class Lifted:
    """A heap, and what of the live world its numbers stand for."""

    heap: Heap

    tensors: tuple[str, ...]
    """The place at which each tensor of the heap stands first."""

    pieces: tuple[Piece, ...]
    """What each value of the heap stands for."""

    numbers: Numbers
    """What each number of an attribute or of a slot stands for."""


def lift(roots: Mapping[str, Any]) -> Lifted:
    """
    Read the modules, tensors and optimizers of *roots*, by name, into a heap.

    Raises `NotLifted` where the model knows nothing of what it meets.  Nothing that is
    read is changed, but for version counters, which are put back.
    """
    with torch._C.DisableTorchFunctionSubclass(), torch.no_grad(), catch_warnings():
        # Torch warns who asks what a graph computed for its gradient.
        simplefilter("ignore")
        return _Lift(survey(LiveReader(dict(roots)))).lifted()


class _Lift:
    """A heap in the making, from what a walk has found."""

    def __init__(self, found: Survey) -> None:
        self.found = found
        self.tensors = [found.places[number] for number in sorted(found.first.values())]
        self.ids = {id(t): TensorId(n) for n, (_, t) in enumerate(self.tensors)}
        self.numbers = Numbers()
        self.hooks: list[Hooks] = []
        self.classes: dict[str, type] = {}

    def lifted(self) -> Lifted:
        for place, t in self.tensors:
            _require_plain(place, t)
        memory = memory_of(self.tensors)
        kept = [self.tensor(place, t) for place, t in self.tensors]
        heap = Heap(
            tensors=tuple(kept),
            impls=tuple(self.impls(memory)),
            metas=tuple([self.meta(n, one) for n, one in enumerate(kept)]),
            storages=tuple(self.storages(memory)),
            counters=tuple([t._version for _, t in self.tensors]),
            hooks=tuple(self.hooks),
            flags=_flags(),
        )
        draft = Draft(heap)
        holders.add_holders(draft, self.found, self.ids)
        for position, (place, t) in enumerate(self.tensors):
            _require_known_owners(draft, TensorId(position), place, t)
        ownership.collect(draft)
        places = tuple([place for place, _ in self.tensors])
        pieces = tuple([piece for pieces in memory.storages for piece in pieces])
        return Lifted(draft.sealed(), places, pieces, self.numbers)

    def tensor(self, place: str, t: Any) -> Tensor:
        """What the Python object is."""
        cls = self.class_name(place, t)
        parts = list(holders.parts(t))
        known, names = tensor_class(cls), tuple([name for name, _ in parts])
        if names != known.inner or is_wrapper(t) != bool(known.inner):
            raise NotLifted("a tensor in the attributes of another", place)
        return Tensor(
            cls=cls,
            impl=ImplId(self.ids[id(t)]),
            attributes=self.numbers.of_each(holders.attributes(t)),
            inner=tuple([(name, self.ids[id(one)]) for name, one in parts]),
            is_param=bool(t.__dict__.get("_is_param", False)),
            slots=self.numbers.of_each(holders.slots(t)),
            backward_hooks=self.dict_of(t._backward_hooks),
            post_accumulate_grad_hooks=self.dict_of(t._post_accumulate_grad_hooks),
        )

    def class_name(self, place: str, t: Any) -> str:
        """The model's class of a tensor, which stands for one class of Python."""
        try:
            cls = kinds.kind_of(t)
        except NotLifted as error:
            raise NotLifted(error.why, place) from None
        if self.classes.setdefault(cls, type(t)) is not type(t):
            raise NotLifted("two classes that the model takes for one", place)
        return cls

    def dict_of(self, listed: Mapping[int, Any] | None) -> HooksId | None:
        """A dict of hooks by their keys; what is listed is taken to be what fires."""
        if listed is None:
            return None
        self.hooks.append(Hooks(entries=tuple(map(str, listed))))
        return HooksId(len(self.hooks) - 1)

    def impls(self, memory: Memory) -> Iterator[TensorImpl]:
        """What each impl covers, and with which counter."""
        counters = shared_counters([t for _, t in self.tensors])
        rows = zip(self.tensors, memory.windows, counters, strict=True)
        for position, ((_, t), window, counter) in enumerate(rows):
            yield TensorImpl(
                storage=None if window is None else StorageId(window.storage),
                pyobj=TensorId(position),
                counter=CounterId(counter),
                dtype=str(t.dtype).removeprefix("torch."),
                device=t.device.type,
                offset=0 if window is None else window.offset,
                length=min(t.numel(), 2) if window is None else window.length,
                python_key=window is None,
            )

    def meta(self, position: int, tensor: Tensor) -> AutogradMeta:
        """What autograd knows of a leaf."""
        place, t = self.tensors[position]
        grad, base = t.grad, t._base
        if base is not None:
            _require_simple_view(place, t)
        listed = tensor.backward_hooks
        made = AutogradMeta(
            requires_grad=t.requires_grad,
            grad=None if grad is None else ImplId(self.ids[id(grad)]),
            base=None if base is None else ImplId(self.ids[id(base)]),
            hooks=() if listed is None else (listed,),
            post_accumulate_grad_hooks=tensor.post_accumulate_grad_hooks,
        )
        return NO_META if made == NO_META else made

    def storages(self, memory: Memory) -> Iterator[Storage]:
        """Storages whose values number the pieces that they stand for."""
        number = 0
        for pieces in memory.storages:
            values = tuple(range(number, number + len(pieces)))
            number += len(pieces)
            covered = [one.tensor for one in pieces if one.tensor is not None]
            on_meta = any(self.tensors[n][1].device.type == "meta" for n in covered)
            yield Storage(values=None if on_meta else values)


# -- What the model knows nothing of ---------------------------------------------------


def _require_plain(place: str, t: Any) -> None:
    """Decline what is no dense tensor of numbers that the model has, outside graphs."""
    dtype = str(t.dtype).removeprefix("torch.")
    if t.grad_fn is not None:
        raise NotLifted("a tensor that a graph computed", place)
    if t.layout is not torch.strided or t.is_nested:
        raise NotLifted("a tensor that is not strided", place)
    if dtype not in (*INTEGERS, *DIFFERENTIABLE):
        raise NotLifted(f"the dtype {dtype}", place)
    if t.device.type not in DEVICES:
        raise NotLifted(f"the device {t.device.type}", place)
    if t.is_inference() or t.is_conj() or t.is_neg():
        raise NotLifted("an inference tensor or a lazy conjugate", place)


def _require_simple_view(place: str, t: Any) -> None:
    """Decline a view of which autograd knows more than can be seen."""
    made = torch._C._autograd._get_creation_meta(t)
    plain = made == torch._C._autograd.CreationMeta.DEFAULT
    if is_wrapper(t) or not plain or t._version or t._base.requires_grad:
        raise NotLifted("a view with a history", place)


def _require_known_owners(draft: Draft, t: TensorId, place: str, live: Any) -> None:
    """Decline a tensor that something owns which is not here, such as a graph."""
    seen = sum(1 for _ in ownership.owners(draft, draft.tensor(t).impl))
    if live._use_count() != seen:
        raise NotLifted("a tensor that something unseen owns", place)


def _flags() -> Flags:
    return Flags(
        swap=torch.__future__.get_swap_module_params_on_conversion(),
        overwrite=torch.__future__.get_overwrite_module_params_on_conversion(),
    )
