"""
What is different between two heaps, in words, by place?
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from swapmodel.report import questions
from swapmodel.report.questions import QUESTIONS
from swapmodel.report.spelling import dtype, expression
from swapmodel.semantics import places
from swapmodel.semantics.weakrefs import yielded
from swapmodel.state.heap import Heap, living
from swapmodel.state.holders import Flags
from swapmodel.state.ids import TensorId, WeakrefId
from swapmodel.state.record import field_names


@frozen
class Change:
    """One answer that is not what it was."""

    about: str
    """What was asked, such as `m.weight.dtype`."""

    was: str
    """The old answer; empty for what was not there."""

    now: str
    """The new answer; empty for what is gone."""


def changes(before: Heap, then: Heap) -> tuple[Change, ...]:
    """Every difference that a place shows, places in the order in which they stand."""
    return tuple(_changes(before, then))


def _changes(before: Heap, then: Heap) -> Iterator[Change]:
    old, new = dict(places.places(before)), dict(places.places(then))
    for place in [*new, *(one for one in old if one not in new)]:
        if place not in new:
            yield Change(expression(place), summary(before, old[place]), "")
        elif place not in old:
            yield Change(expression(place), "", summary(then, new[place]))
        else:
            yield from _answers(place, before, old[place], then, new[place])
    yield from _references(before, then)
    for flag in field_names(Flags):
        was, now = getattr(before.flags, flag), getattr(then.flags, flag)
        if was != now:
            yield Change(f"flag {flag}", str(was), str(now))
    yield from _temporaries(before, then)


def _answers(
    place: str, before: Heap, was: TensorId, then: Heap, now: TensorId
) -> Iterator[Change]:
    old, new = questions.answers(before, was), questions.answers(then, now)
    for one in QUESTIONS:
        if old.get(one.code) != new.get(one.code):
            about = questions.words(one, expression(place))
            there = (answers.get(one.code, "unreadable") for answers in (old, new))
            yield Change(about, *there)


def summary(heap: Heap, t: TensorId) -> str:
    """A tensor in a few words."""
    asked = questions.answers(heap, t)
    values = asked.get(questions.VALUES.code, "")
    return f"{heap.tensor(t).cls} {dtype(heap.impl_of(t).dtype)} {values}".rstrip()


def reference(heap: Heap, w: WeakrefId) -> str:
    """A weak reference in a few words."""
    ref = heap.weakref(w)
    t = yielded(heap, ref)
    if t is None:
        return f"{ref.keeper}, dead"
    return f"{ref.keeper} of {_standing(heap, t)}"


def _references(before: Heap, then: Heap) -> Iterator[Change]:
    """Weak references, modules and what an `RNNBase` lists."""
    was, now = _held(before), _held(then)
    for name in sorted({*was, *now}):
        if was.get(name) != now.get(name):
            yield Change(name, was.get(name, ""), now.get(name, ""))


def _held(heap: Heap) -> dict[str, str]:
    found = dict[str, str]()
    for name, kind, position in heap.names:
        if kind == "weakref":
            found[name] = reference(heap, WeakrefId(position))
        elif kind == "module":
            found[name] = f"module {position}"
    for place, m in places.modules(heap):
        module = heap.module(m)
        for number, t in enumerate(module.flat_weights):
            one = f"{expression(place)}._flat_weights[{number}]"
            found[one] = "None" if t is None else _standing(heap, t)
        for number, w in enumerate(module.flat_weight_refs):
            one = f"{expression(place)}._flat_weight_refs[{number}]"
            found[one] = "None" if w is None else reference(heap, w)
    return found


def _standing(heap: Heap, t: TensorId) -> str:
    """A tensor by its first place, or by its number where nothing leads to it."""
    here = next((place for place, one in places.places(heap) if one == t), None)
    return here or f"object {t}"


def _temporaries(before: Heap, then: Heap) -> Iterator[Change]:
    """Tensors that local variables of the operation hold and no place leads to."""
    placed = {t for _, t in places.places(then)}
    inner = {one for _, tensor in living(then.tensors) for _, one in tensor.inner}
    known = {t for t, _ in living(before.tensors)}
    for position, _ in living(then.tensors):
        t = TensorId(position)
        if t not in placed and t not in inner and t not in known:
            yield Change(f"object {t}", "", f"{summary(then, t)} (temporary)")
