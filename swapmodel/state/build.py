"""
How is a heap made from nothing?  For start heaps, scenarios and tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from swapmodel.state.autograd import AutogradMeta
from swapmodel.state.classes import module_class, tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.dtypes import DEVICES, DTYPES
from swapmodel.state.heap import Heap, living
from swapmodel.state.holders import Flags, Module
from swapmodel.state.ids import ImplId, Kind, ModuleId, TensorId, WeakrefId
from swapmodel.state.tensors import Storage, Tensor, TensorImpl
from swapmodel.state.weakrefs import Weakref

Registered = Mapping[str, TensorId | None]

DEEPEST = 64
"""How deep modules and wrappers can be nested; what walks them recurses, as torch."""

MOST = 4096
"""How many modules or tensors a walk through one can meet, twice what is shared."""

NN_BUFFER = {"_is_buffer": 1, "persistent": 1}
"""What `torch.nn.Buffer(t)` sets in the `__dict__` of a tensor."""


class Builder:
    """A heap in the making: add tensors and modules, name them, take the heap."""

    def __init__(self, *, swap: bool = False, overwrite: bool = False) -> None:
        self._draft = Draft(Heap(flags=Flags(swap=swap, overwrite=overwrite)))
        self._extents: dict[tuple[Kind, int], tuple[int, int]] = {}

    def tensor(
        self,
        values: tuple[int, ...] | None = (1, 2),
        *,
        cls: str = "Tensor",
        dtype: str = "float32",
        device: str = "cpu",
        requires_grad: bool = False,
        attributes: dict[str, int] | None = None,
        slots: dict[str, int] | None = None,
        inner: dict[str, TensorId] | None = None,
    ) -> TensorId:
        """
        Make a tensor; a wrapper's inner tensors hold *values* each, or are given.

        A wrapper over given ones takes its dtype, device and size from the first.
        """
        if dtype not in DTYPES or device not in DEVICES:
            raise ValueError(f"no tensor of {dtype} on {device} is modelled")
        names = tensor_class(cls).inner
        parts = inner or {
            one: self.tensor(values, dtype=dtype, device=device) for one in names
        }
        t = TensorId(len(self._draft.tensors))
        self._nested("tensor", t, parts.values())
        if parts:
            impl = self._over(t, parts[names[0]])
        else:
            impl = self._dense(t, values, dtype, device)
        tensor = Tensor(
            cls=cls,
            impl=self._draft.add_impl(impl, AutogradMeta(requires_grad=requires_grad)),
            inner=tuple((one, parts[one]) for one in names),
            attributes=tuple(sorted((attributes or {}).items())),
            slots=tuple(sorted((slots or {}).items())),
        )
        return self._draft.add_tensor(tensor)

    def _dense(
        self, t: TensorId, values: tuple[int, ...] | None, dtype: str, device: str
    ) -> TensorImpl:
        return TensorImpl(
            storage=self._draft.add_storage(Storage(values=values)),
            pyobj=t,
            counter=self._draft.add_counter(),
            dtype=dtype,
            device=device,
            length=2 if values is None else len(values),
        )

    def _over(self, t: TensorId, first: TensorId) -> TensorImpl:
        outer = self._draft.impl_of(first)
        return TensorImpl(
            storage=None,
            pyobj=t,
            counter=self._draft.add_counter(),
            dtype=outer.dtype,
            device=outer.device,
            length=outer.length,
            python_key=True,
        )

    def share(
        self, t: TensorId, over: TensorId, *, offset: int = 0, length: int = 2
    ) -> TensorId:
        """Let *t* cover part of the storage of another tensor, as a slice does."""
        impl, other = self._draft.edit_impl(self._impl(t)), self._draft.impl_of(over)
        if impl.storage is None or other.storage is None:
            raise ValueError("a wrapper has no memory of its own")
        if offset < 0 or length < 1 or offset + length > other.length:
            raise ValueError(f"not a part of {other.length} elements")
        impl.storage, impl.dtype, impl.device = other.storage, other.dtype, other.device
        impl.offset, impl.length = other.offset + offset, length
        return t

    def length(self, t: TensorId) -> int:
        """How many elements a tensor has."""
        return self._draft.impl_of(t).length

    def view(self, t: TensorId, base: TensorId) -> TensorId:
        """Let *t* be a view of *base*, or of what that is a view of, and own it."""
        self._draft.edit_impl(self._impl(t)).counter = self._draft.impl_of(base).counter
        whole = self._draft.meta_of(base).base
        self._draft.edit_meta(self._impl(t)).base = (
            self._impl(base) if whole is None else whole
        )
        return t

    def mark(self, t: TensorId) -> TensorId:
        """Let *t* be a parameter whatever its class: `t._is_param = True`."""
        self._draft.edit_tensor(t).is_param = True
        return t

    def _impl(self, t: TensorId) -> ImplId:
        return self._draft.tensor(t).impl

    def parameter(
        self,
        values: tuple[int, ...] | None = (1, 2),
        *,
        cls: str = "Parameter",
        dtype: str = "float32",
        device: str = "cpu",
        requires_grad: bool = True,
        attributes: dict[str, int] | None = None,
        slots: dict[str, int] | None = None,
        inner: dict[str, TensorId] | None = None,
    ) -> TensorId:
        """Make a `Parameter`, or a tensor of another class that is one."""
        t = self.tensor(
            values,
            cls=cls,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
            attributes=attributes,
            slots=slots,
            inner=inner,
        )
        return t if tensor_class(cls).parameter else self.mark(t)

    def gradient(self, t: TensorId, grad: TensorId) -> None:
        """Attach a gradient."""
        meta = self._draft.edit_meta(self._draft.tensor(t).impl)
        meta.grad = self._draft.tensor(grad).impl

    def module(
        self,
        parameters: Registered | None = None,
        *,
        buffers: Registered | None = None,
        attributes: dict[str, TensorId] | None = None,
        children: dict[str, ModuleId] | None = None,
        cls: str = "Module",
    ) -> ModuleId:
        """Make a module that holds what it is given, in that order."""
        draft = self._draft
        listed = dict(parameters or {})
        names = module_class(cls).flat_weights
        flat = tuple(listed.get(one) for one in names)
        module = Module(
            cls=cls,
            parameters=tuple(listed.items()),
            buffers=tuple((buffers or {}).items()),
            children=tuple((children or {}).items()),
            attributes=tuple((attributes or {}).items()),
            flat_weights_names=names,
            flat_weights=flat,
            flat_weight_refs=tuple(self._weakref(t) for t in flat),
        )
        m = draft.add_module(module)
        self._nested("module", m, (children or {}).values())
        return m

    def _nested(self, kind: Kind, position: int, inside: Iterable[int]) -> None:
        """Note how deep something is nested; refuse what no walk comes out of."""
        below = [self._extents[kind, one] for one in inside]
        depth = 1 + max((deep for deep, _ in below), default=0)
        count = 1 + sum(many for _, many in below)
        if depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} {kind}s within each other")
        if count > MOST:
            raise ValueError(f"more than {MOST} {kind}s within one")
        self._extents[kind, position] = depth, count

    def _weakref(self, t: TensorId | None) -> WeakrefId | None:
        if t is None:
            return None
        for w, ref in living(self._draft.weakrefs):
            if ref.tensor == t:
                return WeakrefId(w)
        ref = Weakref(tensor=t, ghost_tensor=t, ghost_impl=self._draft.tensor(t).impl)
        return self._draft.add_weakref(ref)

    def name(self, name: str, kind: Kind, position: int) -> None:
        """Assign a variable."""
        self._draft.bind(name, kind, position)

    def heap(self) -> Heap:
        """The heap made so far."""
        return self._draft.frozen()
