"""
Which names are taken in every module and in every tensor, by torch itself?

What torch answers is modelled where it only refuses; where
it lets a program overwrite what it needs itself, the model declines.
"""

from __future__ import annotations

import re
from typing import Any

from swapmodel import actions
from swapmodel.actions import Action
from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import tensors
from swapmodel.semantics.choose import TRACEABLE
from swapmodel.semantics.convert_rnn import is_rnn
from swapmodel.semantics.places import segments
from swapmodel.semantics.torch_names import (
    IN_INSTANCES,
    IN_MODULES,
    IN_RNNS,
    IN_TENSORS,
    METHODS,
)
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.ids import ModuleId, TensorId

DUNDER = re.compile(r"__\w+__")


def of_tensors(name: str) -> bool:
    """Whether torch has a use of its own for an attribute of a tensor."""
    if name in TRACEABLE:
        return False
    return bool(DUNDER.fullmatch(name)) or name in IN_TENSORS or name in METHODS


def of_modules(name: str) -> bool:
    """Whether every module has something of that name."""
    return bool(DUNDER.fullmatch(name)) or name in IN_MODULES


def read_by_torch(place: str) -> bool:
    """Whether a place that leads nowhere here goes through what torch could read."""
    names = [one.partition("[")[0] for one in segments(place)[1:]]
    return any((of_tensors(one) or of_modules(one)) and one != "grad" for one in names)


def stop(draft: Draft, action: Action, found: list[Any]) -> Stop | None:
    """Refuse or decline an action that would give something a name that is taken."""
    match action:
        case actions.SetAttribute(_, key):
            return _set_attribute(draft, found[0], key)
        case actions.Register(_, key, _, kind):
            if kind == "by hand":
                return _unfit(draft, found[0], key)
            return _register(draft, found[0], key, kind)
        case actions.Tie(_, key):
            if tensors.is_parameter(draft, found[1]) and key not in IN_INSTANCES:
                return _register(draft, found[0], key, "parameter")
            return _unfit(draft, found[0], key)
        case actions.Unregister(_, key) if key in IN_INSTANCES or DUNDER.fullmatch(key):
            return Unmodelled(f"a module without its {key}")
    return None


def _set_attribute(draft: Draft, t: TensorId, key: str) -> Stop | None:
    tensor = draft.tensor(t)
    if of_tensors(key):
        return Unmodelled(f"a number in the place of a tensor's {key}")
    if key in (*tensor_class(tensor.cls).inner, *dict(tensor.inner)):
        return Unmodelled("a number in the place of an inner tensor")
    return None


def _register(draft: Draft, m: ModuleId, key: str, kind: str) -> Stop | None:
    """What `register_parameter` and `register_buffer` ask first, of the name alone."""
    if "." in key:
        # [module/name-dotted]
        return Refusal("module/name-dotted", key, (("kind", kind),))
    if not key:
        # [module/name-empty]
        return Refusal("module/name-empty", key, (("kind", kind),))
    if DUNDER.fullmatch(key):
        return Unmodelled(f"a module's {key}")
    if key in IN_MODULES or _is_in_rnn(draft, m, key):
        # [module/name-taken]
        return Refusal("module/name-taken", key, (("key", key),))
    return None


def _unfit(draft: Draft, m: ModuleId, key: str) -> Stop | None:
    """Decline a name under which nothing is registered but by force."""
    if not key or "." in key or of_modules(key) or _is_in_rnn(draft, m, key):
        return Unmodelled(f"a tensor in the place of a module's {key or 'empty name'}")
    return None


def _is_in_rnn(draft: Draft, m: ModuleId, key: str) -> bool:
    return is_rnn(draft, m) and key in IN_RNNS
