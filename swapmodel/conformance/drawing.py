"""
Which action comes next in a program at random?  Each field is drawn by what it is.

What is declared is drawn: a new kind of action, function or keeper needs no line here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import attrs
from attrs import define, field

from swapmodel.actions import (
    ACTIONS,
    Action,
    Backward,
    Convert,
    Drop,
    Forward,
    OptimizerStep,
    Register,
    SwapTensors,
    Tie,
    Unregister,
    operands,
)
from swapmodel.search.enabled import ASSIGNED, LABELLED
from swapmodel.semantics import places
from swapmodel.state.classes import CLASSES
from swapmodel.state.heap import Heap, living
from swapmodel.state.holders import held
from swapmodel.state.ids import ModuleId

T = TypeVar("T")

NAMES = ("a", "b", "c", "d", "e", "f", "g", "h")
"""The variables that programs assign, and assign again."""

MODULE_KEYS = ("weight", "running", "child", "new")
"""What a tensor is called in a module, beside the names that are there."""

TEXTS: dict[str, tuple[str, ...]] = {
    "dtype": ("float16", "bfloat16", "float32", "float64", "int64"),
    "device": ("cpu", "meta"),
    "cls": tuple(name for name, one in CLASSES.items() if one.inner),
    "inner": ("a", "b"),
    "key": ("tag", "x", "y"),
}
"""What a field that is a free text can say, by its name."""

NUMBERS = (1, 2, 3)

OFTEN: tuple[type[Action], ...] = (
    *(Convert,) * 4,
    *(OptimizerStep,) * 2,
    Forward,
    Backward,
    SwapTensors,
)
"""What is drawn more often than another kind, once more for each time it is here."""


def next_action(heap: Heap, random: Random) -> Action:
    """Draw a kind of those for which everything is there, then its fields."""
    offer = _Offer(heap, random)
    kind = random.choice([one for one in (*ACTIONS, *OFTEN) if offer.possible(one)])
    action: Action = offer.record(kind)
    return action


@define
class _Offer:
    """What a heap has to offer to an action."""

    heap: Heap
    random: Random
    standing: dict[str, list[str]] = field(init=False)
    """Every place, by what stands there: a name can hide another one."""

    def __attrs_post_init__(self) -> None:
        self.standing = {"tensor": [], "module": [], "optimizer": []}
        for place in _places(self.heap):
            found = places.resolve(self.heap, place)
            if found is not None and found[0] in self.standing:
                self.standing[found[0]].append(place)

    def possible(self, kind: type[Action]) -> bool:
        """Whether there is something for each of its operands."""
        if kind is Drop:
            return bool(self.heap.names)
        if kind is Unregister:
            return any(self.held(place) for place in self.standing["module"])
        return all(self.standing[needed] for _, needed in operands(kind))

    def record(self, kind: Any) -> Any:
        """Draw an action, or a function of a conversion."""
        hints = get_type_hints(kind, include_extras=True)
        drawn: dict[str, Any] = {}
        for one in attrs.fields(kind):
            drawn[one.name] = self.value(kind, one.name, hints[one.name], drawn)
        return kind(**drawn)

    def value(self, kind: Any, name: str, hint: Any, before: dict[str, Any]) -> Any:
        """Draw a field; what the ones before it say can matter."""
        if get_origin(hint) is Annotated:
            standing = self.standing[hint.__metadata__[0]]
            if kind is Unregister:
                standing = [place for place in standing if self.held(place)]
            return self.random.choice(standing)
        if name == ASSIGNED:
            names = [one for one, _, _ in self.heap.names] if kind is Drop else NAMES
            return self.random.choice(names)
        if name == LABELLED:
            return _new_label(self.heap)
        if kind in (Register, Tie, Unregister) and name == "key":
            held = self.held(before["module"])
            other = () if kind is Unregister else MODULE_KEYS
            return self.random.choice((*held, *other))
        return self.by_type(name, hint)

    def by_type(self, name: str, hint: Any) -> Any:
        """Draw what is not about the heap."""
        if get_origin(hint) in (Union, UnionType):
            return self.by_type(name, self.random.choice(get_args(hint)))
        if attrs.has(hint):
            return self.record(hint)
        if get_origin(hint) is Literal:
            return self.random.choice(get_args(hint))
        if hint is bool:
            return self.random.choice((False, True))
        if hint is int:
            return self.random.choice(NUMBERS)
        return self.random.choice(TEXTS[name])

    def held(self, module: str) -> Sequence[str]:
        """The names that a module has for tensors and modules."""
        found = places.resolve(self.heap, module)
        assert found is not None
        known = self.heap.module(ModuleId(found[1]))
        listed = (*held(known), *known.children)
        return [name for name, _ in listed]


def _places(heap: Heap) -> Iterator[str]:
    for place, _, _ in places.placements(heap):
        yield place
    for place, m in places.modules(heap):
        yield place
        for index in range(len(heap.module(m).flat_weights)):
            yield f"{place}._flat_weights[{index}]"
    for name, kind, _ in heap.names:
        if kind == "optimizer":
            yield name


def _new_label(heap: Heap) -> str:
    """A label that no hook has."""
    taken = {one for _, hooks in living(heap.hooks) for one in hooks.entries}
    number = 0
    while f"h{number}" in taken:
        number += 1
    return f"h{number}"
