"""
Which actions are worth trying on a heap?  `step` decides what they come to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter

import attrs

from swapmodel.actions import (
    ACTIONS,
    Action,
    Drop,
    SetAttribute,
    SetFlag,
    Unregister,
    operands,
)
from swapmodel.semantics.places import resolve
from swapmodel.state.heap import Heap, living
from swapmodel.state.holders import held

ASSIGNED = "name"
"""The field of an action that holds the variable which it assigns."""

LABELLED = "label"
"""The field of an action that holds the label of a hook."""


def enabled(heap: Heap, actions: Iterable[Action]) -> Iterator[Action]:
    """
    Propose the actions whose operands are there and whose new names are new.

    A name that is bound is not assigned again and a hook's label is used once, so
    that programs of one meaning are not tried twice.
    """
    bound = {name for name, _, _ in heap.names}
    stands: dict[str, str | None] = {}
    for action in actions:
        if _operands_stand(heap, action, stands) and _is_new(heap, action, bound):
            yield action


def _operands_stand(heap: Heap, action: Action, stands: dict[str, str | None]) -> bool:
    """Whether every operand resolves to the kind of thing that it needs."""
    for read, kind in _OPERANDS[type(action)]:
        place = read(action)
        if place not in stands:
            found = resolve(heap, place)
            stands[place] = None if found is None else found[0]
        if stands[place] != kind:
            return False
    return True


def _is_new(heap: Heap, action: Action, bound: set[str]) -> bool:
    """Whether what the action names is not there yet; for `Drop`, that it is."""
    if isinstance(action, Drop):
        return action.name in bound
    if isinstance(action, SetAttribute):
        return not _is_set(heap, action)
    if isinstance(action, SetFlag):
        return getattr(heap.flags, action.flag) is not action.value
    if isinstance(action, Unregister):
        return _is_held(heap, action)
    fields = _FIELDS[type(action)]
    if ASSIGNED in fields and getattr(action, ASSIGNED) in bound:
        return False
    return not (LABELLED in fields and _is_listed(heap, getattr(action, LABELLED)))


def _is_set(heap: Heap, action: SetAttribute) -> bool:
    found = resolve(heap, action.t)
    assert found is not None
    tensor = heap.tensors[found[1]]
    return tensor is not None and (action.key, action.value) in (
        *tensor.attributes,
        *tensor.slots,
    )


def _is_held(heap: Heap, action: Unregister) -> bool:
    found = resolve(heap, action.module)
    assert found is not None
    module = heap.modules[found[1]]
    return action.key in dict((*held(module), *module.children))


def _is_listed(heap: Heap, label: str) -> bool:
    return any(label in hooks.entries for _, hooks in living(heap.hooks))


_OPERANDS = {
    kind: tuple((attrgetter(name), needed) for name, needed in operands(kind))
    for kind in ACTIONS
}
_FIELDS = {kind: frozenset(attrs.fields_dict(kind)) for kind in ACTIONS}
