"""
How is a heap made from nothing?  For start heaps, scenarios and tests.
"""

from __future__ import annotations

from swapmodel.state.autograd import AutogradMeta
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from swapmodel.state.holders import Flags, Module
from swapmodel.state.ids import Kind, ModuleId, TensorId
from swapmodel.state.tensors import Storage, Tensor, TensorImpl

Registered = dict[str, TensorId | None]


class Builder:
    """A heap in the making: add tensors and modules, name them, take the heap."""

    def __init__(self, *, swap: bool = False, overwrite: bool = False) -> None:
        self._draft = Draft(Heap(flags=Flags(swap=swap, overwrite=overwrite)))

    def tensor(
        self,
        values: tuple[int, ...] | None = (1, 2),
        *,
        cls: str = "Tensor",
        dtype: str = "float32",
        device: str = "cpu",
        requires_grad: bool = False,
        attributes: dict[str, int] | None = None,
    ) -> TensorId:
        """Make a tensor; a wrapper's inner tensors hold *values* each."""
        known = tensor_class(cls)
        inner = tuple(
            (name, self.tensor(values, dtype=dtype, device=device))
            for name in known.inner
        )
        draft = self._draft
        storage = None if inner else draft.add_storage(Storage(values=values))
        t = TensorId(len(draft.tensors))
        impl = TensorImpl(
            storage=storage,
            pyobj=t,
            counter=draft.add_counter(),
            dtype=dtype,
            device=device,
            length=2 if values is None else len(values),
            python_key=bool(inner),
        )
        i = draft.add_impl(impl, AutogradMeta(requires_grad=requires_grad))
        listed = tuple(sorted((attributes or {}).items()))
        return draft.add_tensor(Tensor(cls=cls, impl=i, inner=inner, attributes=listed))

    def parameter(
        self,
        values: tuple[int, ...] | None = (1, 2),
        *,
        cls: str = "Parameter",
        dtype: str = "float32",
        device: str = "cpu",
        requires_grad: bool = True,
        attributes: dict[str, int] | None = None,
    ) -> TensorId:
        """Make a `Parameter`, or a wrapper that is one."""
        t = self.tensor(
            values,
            cls=cls,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
            attributes=attributes,
        )
        if tensor_class(cls).inner:
            self._draft.edit_tensor(t).is_param = True
        return t

    def gradient(self, t: TensorId, grad: TensorId) -> None:
        """Attach a gradient."""
        meta = self._draft.edit_meta(self._draft.tensor(t).impl)
        meta.grad = self._draft.tensor(grad).impl

    def module(
        self,
        parameters: Registered | None = None,
        *,
        buffers: Registered | None = None,
        children: dict[str, ModuleId] | None = None,
        cls: str = "Module",
    ) -> ModuleId:
        """Make a module that holds what it is given, in that order."""
        module = Module(
            cls=cls,
            parameters=tuple((parameters or {}).items()),
            buffers=tuple((buffers or {}).items()),
            children=tuple((children or {}).items()),
        )
        return self._draft.add_module(module)

    def name(self, name: str, kind: Kind, position: int) -> None:
        """Assign a variable."""
        self._draft.bind(name, kind, position)

    def heap(self) -> Heap:
        """The heap made so far."""
        return self._draft.frozen()
