"""
What does a weak reference yield, and what does its keeper hand out?
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.actions import Convert
from swapmodel.invariants.violation import Step, Violation
from swapmodel.semantics import places
from swapmodel.semantics.modules import flat_weights
from swapmodel.semantics.weakrefs import yielded
from swapmodel.state.heap import Heap
from swapmodel.state.ids import ModuleId, TensorId, WeakrefId
from swapmodel.state.keepers import KEEPERS
from swapmodel.state.weakrefs import Weakref


def weakrefs(step: Step) -> Iterator[Violation]:
    """
    A live weak reference yields the object that it was taken from.

    What a keeper finds by a tensor was put there for what that tensor holds, and an
    `RNNBase` refers to the weights that it has.  Asked by looking up every entry.
    """
    for name, kind, position in step.before.names:
        w = WeakrefId(position)
        # [invariant/weakrefs]
        if kind == "weakref" and w < len(step.then.weakrefs):
            was, now = step.before.weakref(w), step.then.weakrefs[w]
            if now is not None:
                yield from _of_variable(step, name, was, now)
    if isinstance(step.action, Convert):
        yield from _of_modules(step)


def _of_variable(
    step: Step, name: str, was: Weakref, now: Weakref
) -> Iterator[Violation]:
    t = yielded(step.before, was)
    if t is None or t != was.ghost_tensor:
        return
    there = yielded(step.then, now)
    path = step.path(_standing(step, t))
    if there != t and step.then.tensors[t] is not None:
        promised = f"{name} yields what it was taken from"
        told = "nothing" if there is None else "another tensor"
        yield Violation("weakrefs", name, "variable", path, promised, told)
    elif there == t and KEEPERS[was.keeper].asked:
        i = was.ghost_impl
        if step.before.tensor(t).impl == i != step.then.tensor(t).impl:
            promised = f"the entry of {name} is for what its tensor holds"
            told = "it is for what another tensor holds"
            yield Violation("weakrefs", name, "variable", path, promised, told)


def _standing(step: Step, t: TensorId) -> str:
    """The first place at which a tensor stood."""
    return next((place for place, _, one in step.placed_before if one == t), "")


# -- The weak references of an `RNNBase` ---------------------------------------------


def _of_modules(step: Step) -> Iterator[Violation]:
    for place, m in places.modules(step.before):
        was, now = _weights(step.before, m), _weights(step.then, m)
        for number, name in enumerate(was):
            if name and (number >= len(now) or now[number] != name):
                where = f"{place}._flat_weight_refs[{number}]"
                path = step.path(f"{place}.{name}")
                told = "another tensor" if number < len(now) else "it is not there"
                promised = f"{where} yields {place}.{name}"
                yield Violation("weakrefs", where, "parameter", path, promised, told)


def _weights(heap: Heap, m: ModuleId) -> tuple[str, ...]:
    """The name of the weight that each weak reference yields, or nothing."""
    module = heap.module(m)
    names = module.flat_weights_names
    found = []
    for name, w, t in zip(
        names, module.flat_weight_refs, flat_weights(heap, module), strict=False
    ):
        there = None if w is None else heap.weakref(w).tensor
        found.append(name if t is not None and there == t else "")
    return tuple(found)
