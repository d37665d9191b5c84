"""
What holds tensors in a live world: attributes, modules, optimizers, weak references?
"""

from __future__ import annotations

import copyreg
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from attrs import Factory, define
from torch.nn.utils.parametrize import is_parametrized

from swapmodel.conformance.survey import Survey
from swapmodel.live.reasons import NotLifted
from swapmodel.state.draft import Draft
from swapmodel.state.holders import Module
from swapmodel.state.ids import Kind, ModuleId, TensorId, WeakrefId
from swapmodel.state.keepers import Keeper
from swapmodel.state.optimizers import Optimizer, OptimizerKind, StateEntry
from swapmodel.state.weakrefs import Weakref

Ids = Mapping[int, TensorId]
"""The position of each tensor, by `id(t)`."""


OF_TORCH = frozenset(
    {
        "_is_param",
        *[
            f"_sym_{of}_capsule{end}"
            for of in ("sizes", "strides")
            for end in ("", "_len")
        ],
    }
)
"""
What torch itself puts into `t.__dict__`: that it is a parameter, which the model knows,
and the sizes of a wrapper that answers for them, once somebody has asked.
"""

# -- What hangs on a tensor ------------------------------------------------------------


def parts(t: Any) -> Iterator[tuple[str, Any]]:
    """The tensors in `t.__dict__`, and those in slots."""
    for name, one in (*t.__dict__.items(), *_set_slots(t)):
        if isinstance(one, torch.Tensor):
            yield name, one


def attributes(t: Any) -> Iterator[tuple[str, Any]]:
    """What else is in `t.__dict__`, but what torch puts there itself."""
    for name, one in t.__dict__.items():
        if name not in OF_TORCH and not isinstance(one, torch.Tensor):
            yield name, one


def slots(t: Any) -> Iterator[tuple[str, Any]]:
    """The slots that are set, but for tensors."""
    for name, one in _set_slots(t):
        if not isinstance(one, torch.Tensor):
            yield name, one


def _set_slots(t: Any) -> Iterator[tuple[str, Any]]:
    for name in copyreg._slotnames(type(t)):  # type: ignore[attr-defined]
        if hasattr(t, name):
            yield name, getattr(t, name)


@define
class Numbers:
    """Numbers for what attributes hold: one object has one, and `True` has 1."""

    objects: list[Any] = Factory(lambda: [False, True])

    def of(self, one: Any) -> int:
        """The number of an object, a new one if it was not met before."""
        for number, known in enumerate(self.objects):
            if known is one:
                return number
        self.objects.append(one)
        return len(self.objects) - 1

    def of_each(
        self, entries: Iterator[tuple[str, Any]]
    ) -> tuple[tuple[str, int], ...]:
        """Each name with the number of what it has, in order of name."""
        return tuple(sorted([(name, self.of(one)) for name, one in entries]))


# -- What holds tensors ----------------------------------------------------------------


def add_holders(draft: Draft, found: Survey, ids: Ids) -> None:
    """Add modules and optimizers, name the roots, and take the weak references."""
    kept = _Holders(draft, found, ids)
    modules = [one for one in _first(found) if not _is_optimizer(one[1])]
    for number, (_, module) in enumerate(modules):
        kept.ids[id(module)] = number
    for place, module in modules:
        draft.add_module(kept.module(place, module))
    for place, thing in _first(found):
        if _is_optimizer(thing):
            kept.ids[id(thing)] = draft.add_optimizer(kept.optimizer(place, thing))
    for place, thing in (*found.modules, *found.places):
        if "." not in place:
            kept.name(place, thing)
    kept.strangers()


def _first(found: Survey) -> Iterator[tuple[str, Any]]:
    for number, (place, thing) in enumerate(found.modules):
        if found.first_module[id(thing)] == number:
            yield place, thing


def _is_optimizer(thing: Any) -> bool:
    return isinstance(thing, torch.optim.Optimizer)


class _Holders:
    """Modules and optimizers in the making."""

    def __init__(self, draft: Draft, found: Survey, ids: Ids) -> None:
        self.draft, self.found, self.tensors = draft, found, ids
        self.ids: dict[int, int] = {}
        self.refs: dict[int, WeakrefId] = {}

    def name(self, name: str, thing: Any) -> None:
        kind: Kind = "optimizer" if _is_optimizer(thing) else "module"
        if isinstance(thing, torch.Tensor):
            self.draft.bind(name, "tensor", self.tensors[id(thing)])
        else:
            self.draft.bind(name, kind, self.ids[id(thing)])

    # -- Modules -----------------------------------------------------------------------

    def module(self, place: str, module: Any) -> Module:
        _require_own_apply(place, module)
        rnn = isinstance(module, torch.nn.RNNBase)
        children = [(k, one) for k, one in module._modules.items() if one is not None]
        return Module(
            cls=module._get_name(),
            parameters=self._listed(module._parameters),
            buffers=self._listed(module._buffers),
            children=tuple([(k, ModuleId(self.ids[id(one)])) for k, one in children]),
            flat_weights_names=tuple(module._flat_weights_names) if rnn else (),
            flat_weights=self._known(module._flat_weights) if rnn else (),
            flat_weight_refs=self._refs(module._flat_weight_refs) if rnn else (),
        )

    def _listed(
        self, listed: Mapping[str, Any]
    ) -> tuple[tuple[str, TensorId | None], ...]:
        return tuple(zip(listed, self._known(listed.values()), strict=True))

    def _known(self, listed: Any) -> tuple[TensorId | None, ...]:
        return tuple([None if t is None else self.tensors[id(t)] for t in listed])

    def _refs(self, listed: list[Any]) -> tuple[WeakrefId | None, ...]:
        return tuple([None if one is None else self._ref(one) for one in listed])

    def _ref(self, one: Any, keeper: Keeper = "ReferenceType") -> WeakrefId:
        if id(one) not in self.refs:
            t = self.tensors.get(id(one()))
            impl = None if t is None else self.draft.tensor(t).impl
            ref = Weakref(keeper=keeper, tensor=t, ghost_tensor=t, ghost_impl=impl)
            self.refs[id(one)] = self.draft.add_weakref(ref)
        return self.refs[id(one)]

    # -- Optimizers --------------------------------------------------------------------

    def optimizer(self, place: str, optimizer: Any) -> Optimizer:
        groups = optimizer.param_groups
        kinds = {_kind(place, optimizer, group) for group in groups}
        if len(kinds) != 1:
            raise NotLifted("an optimizer with groups of different kinds", place)
        entries = [
            StateEntry(parameter=self.tensors[id(key)], tensors=self._kept(place, kept))
            for key, kept in optimizer.state.items()
        ]
        return Optimizer(
            kind=kinds.pop(),
            groups=tuple(
                [tuple([self.tensors[id(t)] for t in one["params"]]) for one in groups]
            ),
            state=tuple(entries),
        )

    def _kept(
        self, place: str, kept: Mapping[str, Any]
    ) -> tuple[tuple[str, TensorId], ...]:
        if any(not isinstance(t, torch.Tensor) for t in kept.values()):
            raise NotLifted("an optimizer's state that is no tensor", place)
        return tuple([(name, self.tensors[id(t)]) for name, t in kept.items()])

    # -- Weak references of others -----------------------------------------------------

    def strangers(self) -> None:
        """Give every weak reference that nothing here holds a variable of its own."""
        count = 0
        for place, t in self.found.places:
            for one in weakref.getweakrefs(t):
                if id(one) not in self.refs:
                    w = self._ref(one, _keeper(place, one))
                    self.draft.bind(f"weakref{count}", "weakref", w)
                    count += 1


def _keeper(place: str, one: Any) -> Keeper:
    name = type(one).__name__
    if type(one) is weakref.ReferenceType:
        return "ReferenceType" if one.__callback__ is None else "callback"
    if name in ("KeyedRef", "WeakIdRef"):
        return name  # type: ignore[return-value]
    raise NotLifted(f"a weak reference of the type {name}", place)


def _kind(place: str, optimizer: Any, group: Mapping[str, Any]) -> OptimizerKind:
    if type(optimizer) is torch.optim.SGD:
        return "SGD-momentum" if group["momentum"] else "SGD"
    if type(optimizer) is torch.optim.Adam:
        return "Adam"
    raise NotLifted(f"the optimizer {type(optimizer).__name__}", place)


CONVERSIONS = (
    *("to", "to_empty", "type", "double", "float", "half", "bfloat16"),
    *("cpu", "cuda", "share_memory"),
)
"""The methods that hand a function to `_apply`."""


def _require_own_apply(place: str, module: Any) -> None:
    """Decline what converts itself by other rules than `nn.Module` and `RNNBase`."""
    name = type(module).__name__
    if isinstance(module, torch.jit.ScriptModule):
        raise NotLifted("a script module", place)
    if is_parametrized(module):
        raise NotLifted("a parametrized module", place)
    applies = type(module)._apply in (torch.nn.Module._apply, torch.nn.RNNBase._apply)
    if not applies or "_apply" in vars(module):
        raise NotLifted(f"{name} has an _apply of its own", place)
    for method in CONVERSIONS:
        if getattr(type(module), method) is not getattr(torch.nn.Module, method):
            raise NotLifted(f"{name} has a {method} of its own", place)
    for key, one in vars(module).items():
        if isinstance(one, torch.Tensor):
            raise NotLifted("a tensor in a plain attribute", f"{place}.{key}")
