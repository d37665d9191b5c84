"""
How is a start heap made in torch, line by line?
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.report.names import MADE, is_plain, setting, variable
from swapmodel.report.snippets import CLASSES
from swapmodel.report.spelling import FLAGS, REGISTER, dtype, expression, weakref
from swapmodel.semantics.tensors import is_parameter
from swapmodel.semantics.weakrefs import yielded
from swapmodel.state.classes import module_class, tensor_class
from swapmodel.state.heap import Heap, living
from swapmodel.state.holders import Module
from swapmodel.state.ids import ModuleId, TensorId, WeakrefId
from swapmodel.state.tensors import Tensor
from swapmodel.state.weakrefs import Weakref


class NotWritten(Exception):
    """A start heap holds what no line of a script makes."""


def start_lines(heap: Heap) -> tuple[str, ...]:
    """
    The lines that make a start heap.

    A tensor is made where it stands first, and named again wherever else it stands.
    """
    for column in ("nodes", "hooks"):
        if any(True for _ in living(getattr(heap, column))):
            raise NotWritten(
                f"a start heap with {column} cannot be written as a script"
            )
    return tuple(_Writer(heap).lines())


def _made(module: Module) -> str:
    """The expression that makes a module."""
    if module.cls == "Module":
        return "torch.nn.Module()"
    if module_class(module.cls).flat_weights:
        return f"torch.nn.{module.cls}(1, 1, bias=False)"
    return f'type("{module.cls}", (torch.nn.Module,), {{}})()'


def _is_made_parameter(tensor: Tensor) -> bool:
    """Whether a call of `Parameter` makes it just what it is."""
    known = tensor_class(tensor.cls)
    if known.plain or known.parameter:
        return known.parameter
    unfit = known.unwraps or known.converts or bool(known.slots)
    return tensor.is_param and not unfit


class _Writer:
    """What is written by now: the place of every tensor and module that is made."""

    def __init__(self, heap: Heap) -> None:
        self.heap = heap
        self.tensors: dict[TensorId, str] = {}
        self.modules: dict[ModuleId, str] = {}

    def lines(self) -> Iterator[str]:
        for flag, line in FLAGS.items():
            if getattr(self.heap.flags, flag):
                yield line.format(True)
        for kind in ("module", "tensor", "weakref"):
            for name, one, position in self.heap.names:
                if one == kind == "module":
                    yield from self.module(name, ModuleId(position))
                elif one == kind == "tensor":
                    yield from self.tensor(name, TensorId(position))
                elif one == kind:
                    yield self.weakref(name, self.heap.weakref(WeakrefId(position)))

    def module(self, place: str, m: ModuleId) -> Iterator[str]:
        if m in self.modules:
            if self.modules[m] != expression(place):
                yield self.assigned(place, self.modules[m])
            return
        module = self.heap.module(m)
        yield self.assigned(place, _made(module))
        self.modules[m] = expression(place)
        for name, t in module.parameters:
            yield from self.registered(place, "parameter", name, t)
        for name, t in module.buffers:
            yield from self.registered(place, "buffer", name, t)
        for name, child in module.children:
            yield from self.module(f"{place}.{name}", child)
        for name, t in module.attributes:
            yield from self.tensor(f"{place}.{name}", t)
        if module.flat_weights:
            yield f"{expression(place)}._init_flat_weights()"

    def assigned(self, place: str, made: str) -> str:
        """Give a module a variable, or another module a child."""
        holder, _, name = place.rpartition(".")
        if holder and not is_plain(name):
            return f'{expression(holder)}.add_module("{name}", {made})'
        return f"{expression(place)} = {made}"

    def registered(
        self, place: str, kind: str, name: str, t: TensorId | None
    ) -> Iterator[str]:
        here = f"{place}.{name}"
        if kind == "parameter" and t is not None:
            if not is_parameter(self.heap, t):
                kind = "by hand"
            elif is_plain(name):
                yield from self.tensor(here, t)
                return
        made = "None" if t is None else self.tensors.get(t) or self.value(t)
        yield REGISTER[kind].format(m=expression(place), key=name, t=made)
        if t is not None and t not in self.tensors:
            self.tensors[t] = expression(here)
            yield from self.belongings(here, t)
            yield from self.gradients(here, t)

    def tensor(self, place: str, t: TensorId) -> Iterator[str]:
        new = t not in self.tensors
        yield from self.alone(place, t)
        if new:
            yield from self.gradients(place, t)

    def gradients(self, place: str, t: TensorId) -> Iterator[str]:
        """Give a tensor its gradient, that one its own, and so on."""
        new = True
        while new and (grad := self.heap.grad_of(t)) is not None:
            place, t = f"{place}.grad", grad
            new = t not in self.tensors
            yield from self.alone(place, t)

    def alone(self, place: str, t: TensorId) -> Iterator[str]:
        """Make a tensor, its gradient left out."""
        known = self.tensors.get(t)
        if known is None:
            yield from self.below(t)
        made = known or self.value(t)
        tensor = self.heap.tensor(t)
        if known is None and tensor.is_param and not _is_made_parameter(tensor):
            yield from (f"{MADE} = {made}", f"{MADE}._is_param = True")
            made = MADE
        if made != expression(place):
            yield f"{expression(place)} = {made}"
        if made == MADE:
            yield f"del {MADE}"
        if known is None:
            self.tensors[t] = expression(place)
            yield from self.belongings(place, t)

    def below(self, t: TensorId) -> Iterator[str]:
        """Make the variable that a tensor is a view or a part of before it."""
        base, storage = self.heap.meta_of(t).base, self.heap.impl_of(t).storage
        for name, kind, position in self.heap.names:
            other = TensorId(position)
            if kind != "tensor" or other == t or other in self.tensors:
                continue
            impl = self.heap.impl_of(other)
            covers = impl.storage == storage is not None
            if self.heap.tensor(other).impl == base or (
                covers and impl.length > self.heap.impl_of(t).length
            ):
                yield from self.tensor(name, other)

    def belongings(self, place: str, t: TensorId) -> Iterator[str]:
        """What a tensor is given once it is made, its gradient left out."""
        tensor = self.heap.tensor(t)
        for key, value in (*tensor.attributes, *tensor.slots):
            yield setting(expression(place), key, str(value))
        for name, inner in tensor.inner:
            self.tensors.setdefault(inner, expression(f"{place}.{name}"))

    def value(self, t: TensorId) -> str:
        """The expression that makes a tensor."""
        tensor, needs_grad = self.heap.tensor(t), self.heap.meta_of(t).requires_grad
        known = tensor_class(tensor.cls)
        if tensor.inner:
            parts = [
                self.tensors.get(one) or self.value(one) for _, one in tensor.inner
            ]
            made = f"{tensor.cls}({', '.join(parts)})"
        elif known.uninitialized:
            impl = self.heap.impl_of(t)
            options = f"{needs_grad}, dtype={dtype(impl.dtype)}"
            return f"torch.nn.{tensor.cls}({options})"
        else:
            made = self.dense(t)
            if not known.plain and not known.parameter:
                made = f"torch.Tensor._make_subclass({tensor.cls}, {made})"
        if not _is_made_parameter(tensor):
            return made + ".requires_grad_()" * needs_grad
        cls = tensor.cls if tensor.cls in CLASSES and known.parameter else ""
        flag = "" if needs_grad else ", False"
        return f"{cls or 'torch.nn.Parameter'}({made}{flag})"

    def dense(self, t: TensorId) -> str:
        """The expression that makes a tensor without inner tensors."""
        impl, base = self.heap.impl_of(t), self.heap.meta_of(t).base
        for other, place in self.tensors.items():
            whole = self.heap.impl_of(other)
            start = impl.offset - whole.offset
            part = f"[{start}:{start + impl.length}]" if base is not None else ""
            if base is not None and self.heap.tensor(other).impl == base:
                return f"{place}{part}"
            if base is None and whole.storage == impl.storage is not None:
                if (start, impl.length) != (0, whole.length):
                    part = f"[{start}:{start + impl.length}]"
                return f"{place}.data{part}"
        options = "" if impl.dtype == "float32" else f", dtype={dtype(impl.dtype)}"
        if impl.device != "cpu":
            options += f', device="{impl.device}"'
        values = None
        if impl.storage is not None:
            values = self.heap.storage(impl.storage).values
        if values is None or impl.device == "meta":
            return f"torch.empty({impl.length}{options})"
        floating = impl.dtype.startswith(("float", "bfloat"))
        shown = [float(one) if floating else one for one in values]
        return f"torch.tensor({shown}{options})"

    def weakref(self, name: str, ref: Weakref) -> str:
        t = yielded(self.heap, ref)
        if t is None:
            raise NotWritten(f"{name} is a weak reference of what is gone")
        return f"{variable(name)} = {weakref(ref.keeper, self.tensors[t], ref.label)}"
