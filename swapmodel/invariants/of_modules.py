"""
What must a conversion leave as it was, whatever it does to the data?
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, product

from swapmodel.actions import Convert
from swapmodel.conversions import Other, Unwrap, Wrap, parts
from swapmodel.invariants.violation import Step, Violation, placed, remembered
from swapmodel.semantics import tensors
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.semantics.edges import is_stale
from swapmodel.semantics.places import Placement
from swapmodel.semantics.weakrefs import yielded
from swapmodel.state.autograd import in_graph
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId, WeakrefId

REGISTERED = ("parameter", "buffer")


def registered(step: Step) -> Iterator[Placement]:
    """
    Yield the places of the converted module and what belongs to them.

    But not a plain attribute, which no conversion promises anything of.
    """
    assert isinstance(step.action, Convert)
    start = f"{step.action.module}."
    plain = [one for one, kind, _ in step.placed_before if kind == "attribute"]
    behind = tuple([f"{one}." for one in plain])
    for place, kind, t in step.placed_before:
        if place.startswith(start) and not (place in plain or place.startswith(behind)):
            yield place, kind, t


def registrations(step: Step) -> Iterator[tuple[Placement, TensorId]]:
    """Yield each registration of a converted module, and what stands there now."""
    if isinstance(step.action, Convert):
        for place, kind, t in registered(step):
            now = step.placed_then.get(place)
            if kind in REGISTERED and now is not None:
                yield (place, kind, t), now


# -- Which object --------------------------------------------------------------------


def identity(step: Step) -> Iterator[Violation]:
    """Each registration refers to the same Python object as before."""
    if not isinstance(step.action, Convert):
        return
    for place, kind, t in registered(step):
        # [invariant/identity]
        if kind in ("parameter", "buffer") and step.placed_then.get(place) != t:
            yield Violation(
                "identity", place, kind, step.path(place), "the same object", "another"
            )


def ties(step: Step) -> Iterator[Violation]:
    """Registrations of one object stay registrations of one object, and no others."""
    for (one, now), (other, then) in combinations(tuple(registrations(step)), 2):
        (place, _, t), (tied, kind, u) = one, other
        # [invariant/ties]
        if (t == u) != (now == then):
            was, told = ("tied", "two objects") if t == u else ("two objects", "tied")
            path = step.way(tied)
            yield Violation("ties", tied, kind, path, f"{was}: {place}, {tied}", told)


def observers(step: Step) -> Iterator[Violation]:
    """
    Whoever held a registered tensor still holds the one that is registered.

    A variable, an optimizer (whose state is found by the same object), a weak
    reference.
    """
    standing = tuple(registrations(step))
    if not standing:
        return
    then = {place: t for place, _, t in observed(step.then)}
    for place, kind, t in observed(step.before):
        for (where, _, one), now in standing:
            # [invariant/observers]
            if one == t and then.get(place) != now:
                told = "another tensor" if place in then else "no tensor"
                path, was = step.path(where), f"{place} gives {where}"
                yield Violation("observers", place, kind, path, was, told)


@remembered
def observed(heap: Heap) -> tuple[Placement, ...]:
    """What variables, optimizers and weak references hold, each by its place."""
    found = [
        (place, kind, t)
        for place, kind, t in placed(heap)
        if kind == "optimizer" or (kind == "variable" and "." not in place)
    ]
    for name, held, position in heap.names:
        if held == "weakref":
            t = yielded(heap, heap.weakref(WeakrefId(position)))
            if t is not None:
                found.append((name, "variable", t))
    return tuple(found)


def aliasing(step: Step) -> Iterator[Violation]:
    """
    Tensors that share a storage go on sharing, and no others start.

    Asked of each registered tensor beside every other, and beside every variable.
    """
    standing = tuple(registrations(step))
    pairs = chain(combinations(standing, 2), product(standing, _variables(step)))
    for ((place, _, t), now), ((shared, kind, u), then) in pairs:
        if t == u:
            continue
        was, there = _share(step.before, t, u), _share(step.then, now, then)
        # [invariant/aliasing]
        if was != there:
            told = ("apart", "shared")
            promised = f"the memory of {place} and {shared} is {told[was]}"
            path = step.way(place)
            yield Violation("aliasing", shared, kind, path, promised, told[there])


def _variables(step: Step) -> Iterator[tuple[Placement, TensorId]]:
    for place, kind, t in step.placed_before:
        now = step.placed_then.get(place)
        if kind == "variable" and "." not in place and now is not None:
            yield (place, kind, t), now


def _share(heap: Heap, t: TensorId, u: TensorId) -> bool:
    one, other = heap.impl_of(t).storage, heap.impl_of(u).storage
    return one is not None and one == other


# -- What it is ----------------------------------------------------------------------


def parameter_kind(step: Step) -> Iterator[Violation]:
    """
    Class, `requires_grad`, being a leaf and being a `Parameter` survive.

    The class does not where the function is one that gives another.
    """
    if not isinstance(step.action, Convert):
        return
    other_class = any(isinstance(one, GIVES_A_CLASS) for one in parts(step.action.fn))
    for (place, kind, t), now in registrations(step):
        was, there = _kind(step.before, t), _kind(step.then, now)
        for what, old in was.items():
            # [invariant/parameter-kind]
            if there[what] != old and not (other_class and what == "class"):
                promised, told = f"{what} of {place} is {old}", f"{there[what]}"
                path = step.path(place)
                yield Violation("parameter-kind", place, kind, path, promised, told)


GIVES_A_CLASS = (Wrap, Unwrap, Other)
"""The functions that are called for a tensor of another class."""


def _kind(heap: Heap, t: TensorId) -> dict[str, object]:
    return {
        "class": heap.tensor(t).cls,
        "requires_grad": requires_grad(heap, t),
        "being a leaf": _is_leaf(heap, t),
        "being a Parameter": tensors.is_parameter(heap, t),
    }


def _is_leaf(heap: Heap, t: TensorId) -> bool:
    """What `t.is_leaf` says, which gives a stale view its node again."""
    meta = heap.meta_of(t)
    if meta.base is not None and is_stale(heap, heap.tensor(t).impl):
        return meta.grad_fn is None and not in_graph(heap.meta(meta.base))
    return meta.grad_fn is None


def attributes(step: Step) -> Iterator[Violation]:
    """What the user set on a registered tensor is still there after a conversion."""
    if not isinstance(step.action, Convert):
        return
    for place, kind, t in registered(step):
        was = step.before.tensor(t)
        now = step.placed_then.get(place, t)
        if not (was.attributes or was.slots) or step.then.tensors[now] is None:
            continue
        tensor = step.then.tensor(now)
        there = (*tensor.attributes, *tensor.slots)
        for key, value in (*was.attributes, *was.slots):
            # [invariant/attributes]
            if (key, value) not in there:
                yield Violation(
                    "attributes",
                    place,
                    kind,
                    step.path(place),
                    f"{place}.{key} is {value}",
                    f"{place} has no attribute {key}",
                )
