"""
What is each weak reference, and each keeper of one, in real Python?
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch
from attrs import frozen
from torch.utils.weak import (
    TensorWeakRef,
    WeakIdKeyDictionary,
    WeakIdRef,
    WeakTensorKeyDictionary,
)

from swapmodel.state.keepers import KEEPERS, Keeper
from swapmodel.state.weakrefs import Noted


class InternalRef(weakref.ref):  # type: ignore[type-arg]
    """A subclass of `weakref.ref` that a guard could know as torch's own."""


class Called(str):
    """What a callback leaves among the labels of hooks that fired."""


@frozen
class Kept:
    """A keeper that a variable holds."""

    keeper: Keeper
    thing: Any
    noted: Noted = ()


Report: TypeAlias = Callable[[Any], None]


def _ignore(_: Any) -> None:
    """Call back without a word."""


def _finalize(t: Any, report: Report) -> Any:
    made = weakref.finalize(t, report, None)
    made.atexit = False
    return made


_TAKE: dict[Keeper, Callable[[Any, Report], Any]] = {
    "ReferenceType": lambda t, report: weakref.ref(t),
    "_WeakTensorRef": lambda t, report: torch._C._WeakTensorRef(t),
    "ProxyType": lambda t, report: weakref.proxy(t),
    "WeakIdRef": lambda t, report: WeakIdRef(t),
    "KeyedRef": lambda t, report: weakref.KeyedRef(t, _ignore, "key"),
    "InternalRef": lambda t, report: InternalRef(t),
    "callback": weakref.ref,
    "finalize": _finalize,
    "TensorWeakRef": lambda t, report: TensorWeakRef(t),
    "WeakSet": lambda t, report: weakref.WeakSet([t]),
    "WeakKeyDictionary": lambda t, report: weakref.WeakKeyDictionary({t: "entry"}),
    "WeakValueDictionary": lambda t, report: weakref.WeakValueDictionary({"key": t}),
    "WeakIdKeyDictionary": lambda t, report: WeakIdKeyDictionary({t: "entry"}),
    "WeakTensorKeyDictionary": lambda t, report: WeakTensorKeyDictionary({t: "entry"}),
    "id-table": lambda t, report: {id(t): weakref.ref(t)},
    "guard": lambda t, report: weakref.ref(t),
}


def take(keeper: Keeper, t: Any, label: str, fired: list[str]) -> Kept:
    """Keep a weak reference of *t*; a callback appends its label to *fired*."""

    def report(_: Any) -> None:
        fired.append(Called(label))

    thing = _TAKE[keeper](t, report)
    return Kept(keeper, thing, metadata(t) if KEEPERS[keeper].notes else ())


def metadata(t: Any) -> Noted:
    """What can be noted of a tensor without holding it."""
    with torch._C.DisableTorchFunctionSubclass():
        dtype = str(t.dtype).removeprefix("torch.")
        return type(t).__name__, dtype, t.numel(), t.requires_grad


# -- What is handed out --------------------------------------------------------------


def _of_proxy(thing: Any) -> Any:
    try:
        return thing.detach.__self__
    except ReferenceError:
        return None


def _first(things: Iterator[Any]) -> Any:
    return next(iter(list(things)), None)


_YIELD: dict[Keeper, Callable[[Any], Any]] = {
    "ProxyType": _of_proxy,
    "finalize": lambda thing: (thing.peek() or (None,))[0],
    "WeakSet": _first,
    "WeakKeyDictionary": lambda thing: _first(thing.keys()),
    "WeakValueDictionary": lambda thing: thing.get("key"),
    "WeakIdKeyDictionary": lambda thing: _first(thing.keys()),
    "WeakTensorKeyDictionary": lambda thing: _first(thing.keys()),
    "id-table": lambda thing: _first(thing.values())(),
}
"""How to ask what is not a reference that can be called."""


def yields(kept: Kept) -> Any:
    """The tensor that a keeper hands out, or `None` once it is dead."""
    if kept.keeper in _YIELD:
        return _YIELD[kept.keeper](kept.thing)
    return kept.thing()


def python_types(t: Any) -> list[str]:
    """The types of `weakref.getweakrefs(t)`, sorted."""
    return sorted([type(one).__name__ for one in weakref.getweakrefs(t)])


def finds(kept: Kept, t: Any) -> bool | str:
    """Whether a look-up by *t* finds an entry; a text where Python raises."""
    if kept.keeper == "id-table":
        return id(t) in kept.thing and kept.thing[id(t)]() is not None
    try:
        return t in kept.thing
    except RuntimeError:
        return "ambiguous"
