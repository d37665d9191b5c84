"""
How does a heap become real torch, and how does a program run there?
"""

from __future__ import annotations

import gc
import warnings
from contextlib import suppress
from itertools import product
from typing import Any

import torch

from swapmodel.actions import (
    Action,
    Backward,
    Convert,
    Forward,
    OptimizerStep,
    Product,
    Write,
)
from swapmodel.conformance import abilities, perform
from swapmodel.conformance.keepers import Called
from swapmodel.conformance.look import keep_small, observe_world
from swapmodel.conformance.observation import Result
from swapmodel.conformance.sources import CLASSES
from swapmodel.conversions import Scale, ScaleInPlace, parts
from swapmodel.semantics.payloads import SCALE
from swapmodel.state.classes import module_class
from swapmodel.state.heap import Heap
from swapmodel.state.ids import ImplId, ModuleId, TensorId


def _grows(action: Action) -> bool:
    """Whether a value can be above the modulus afterwards."""
    if isinstance(action, Convert):
        return any(isinstance(one, Scale | ScaleInPlace) for one in parts(action.fn))
    return isinstance(action, Forward | Product | Backward | Write | OptimizerStep)


def settle() -> None:
    """
    Make this process fit for many small worlds: one thread, little to collect.

    A collection costs nothing when all that was there before is out of its sight.
    """
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    # Torch imports what it needs when it runs; let it.
    for wrap, device in product((torch.ones, _two_tensor), ("cpu", "meta")):
        # Before swaps, a wrapper's gradient is not of its dtype after a cast.
        with suppress(RuntimeError):
            _use_everything(wrap, device)
    gc.collect()
    gc.freeze()


def _use_everything(wrap: Any, device: str) -> None:
    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(wrap(2))
    y = module.to(device).double().weight.pow(2) * SCALE
    y.backward(torch.ones_like(y))
    module._apply(lambda t: t.mul_(SCALE)).weight.view(-1)
    module.to_empty(device="cpu")
    for cls in (torch.optim.SGD, torch.optim.Adam):
        cls(module.parameters(), lr=1.0).step()


class World:
    """Real torch, with the variables of one program."""

    def __init__(self, start: Heap) -> None:
        self.variables: dict[str, Any] = _Maker(start).variables()
        self.fired: list[str] = []
        for flag in ("swap", "overwrite"):
            value = getattr(start.flags, flag)
            # An old release without the switch does as if it were off.
            if value or abilities.has_flag(flag):
                perform.set_flag(flag, value)

    def run(self, action: Action) -> tuple[tuple[str, str], ...]:
        """Run one action; give the types and texts of the exceptions it came to."""
        self.fired.clear()
        errors: tuple[tuple[str, str], ...] = ()
        try:
            perform.perform(self.variables, self.fired, action)
        except Exception as error:
            errors = chain_of(error)
        # A cycle that waited for a look would die in an action that has no part in it.
        gc.collect()
        if _grows(action):
            keep_small(self.variables)
        return errors

    def look(self, errors: tuple[tuple[str, str], ...]) -> Result:
        """Say what Python sees after an action that came to *errors*."""
        gc.collect()
        kind = "refused" if errors else "done"
        seen = observe_world(self.variables)
        return Result(kind, errors, _in_order(self.fired), seen)


def _in_order(fired: list[str]) -> tuple[str, ...]:
    """Hooks as they fired; behind them, sorted, what called back as tensors died."""
    called = sorted([one for one in fired if isinstance(one, Called)])
    return (*[one for one in fired if not isinstance(one, Called)], *called)


def chain_of(error: BaseException | None) -> tuple[tuple[str, str], ...]:
    """Read the chain of exceptions, and let go of what their frames hold."""
    found = list[tuple[str, str]]()
    while error is not None:
        found.append((type(error).__name__, str(error)))
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
    return tuple(found)


class _Maker:
    """Real tensors and modules after the records of a heap without a graph."""

    def __init__(self, heap: Heap) -> None:
        for column in ("nodes", "hooks"):
            if any(one is not None for one in getattr(heap, column)):
                raise ValueError(f"a start heap has no {column}")
        if any(kind == "weakref" for _, kind, _ in heap.names):
            raise ValueError("a start heap has no weakrefs")
        self.heap = heap
        self.tensors: dict[TensorId, Any] = {}
        self.modules: dict[ModuleId, Any] = {}
        self.storages: dict[int, Any] = {}

    def variables(self) -> dict[str, Any]:
        """Make everything that a variable of the heap leads to."""
        made: dict[str, Any] = {}
        for name, kind, position in self.heap.names:
            if kind == "module":
                made[name] = self.module(ModuleId(position))
            else:
                made[name] = self.tensor(TensorId(position))
        return made

    def module(self, m: ModuleId) -> Any:
        """Make a module, once."""
        if m not in self.modules:
            module = self.heap.module(m)
            made = self.modules[m] = _module(module.cls)
            for listed, into in (
                (module.parameters, made._parameters),
                (module.buffers, made._buffers),
            ):
                for name, t in listed:
                    into[name] = None if t is None else self.tensor(t)
            for name, child in module.children:
                made._modules[name] = self.module(child)
            for name, t in module.attributes:
                made.__dict__[name] = self.tensor(t)
            if module.flat_weights:
                made._init_flat_weights()
        return self.modules[m]

    def tensor(self, t: TensorId) -> Any:
        """Make a tensor with what hangs on it, once."""
        if t in self.tensors:
            return self.tensors[t]
        tensor, meta = self.heap.tensor(t), self.heap.meta_of(t)
        made = self.tensors[t] = self.bare(t)
        if tensor.is_param:
            made._is_param = True
        for name, value in (*tensor.attributes, *tensor.slots):
            setattr(made, name, value)
        made.requires_grad = meta.requires_grad
        if meta.grad is not None:
            made.grad = self.tensor(self.heap.impl(meta.grad).pyobj)
        return made

    def bare(self, t: TensorId) -> Any:
        """Make a tensor of its class, over inner tensors, a base or a storage."""
        tensor, base = self.heap.tensor(t), self.heap.meta_of(t).base
        if tensor.inner:
            inner = {name: self.tensor(one) for name, one in tensor.inner}
            return CLASSES[tensor.cls](**inner)
        if base is not None:
            whole = self.tensor(self.heap.impl(base).pyobj)
            impl, start = self.heap.impl(tensor.impl), self.heap.impl(base).offset
            return whole[impl.offset - start :][: impl.length]
        made = self.dense(tensor.impl)
        if tensor.cls == "Tensor":
            return made
        return torch.Tensor._make_subclass(CLASSES[tensor.cls], made)

    def dense(self, i: ImplId) -> Any:
        """Make a tensor over the storage of an impl, shared with its other tensors."""
        impl = self.heap.impl(i)
        assert impl.storage is not None
        if self.heap.version(impl.counter):
            raise ValueError("a start heap has no writes")
        values = self.heap.storage(impl.storage).values or (0,) * impl.length
        whole = self.storages.get(impl.storage)
        if whole is None:
            dtype = getattr(torch, impl.dtype)
            whole = torch.tensor(values, dtype=dtype, device=impl.device)
            self.storages[impl.storage] = whole
        return whole.data[impl.offset : impl.offset + impl.length].data


def _two_tensor(length: int) -> Any:
    return CLASSES["TwoTensor"](torch.ones(length), torch.ones(length))


def _module(name: str) -> Any:
    if module_class(name).flat_weights:
        made = getattr(torch.nn, name)(1, 1, bias=False)
        made._parameters.clear()
        return made
    if name == "Module":
        return torch.nn.Module()
    return type(name, (torch.nn.Module,), {})()
