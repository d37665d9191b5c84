"""
Which claims does one heap alone answer?

Each is reported on the step after which it is false and before which it was true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from swapmodel.invariants.violation import Step, Violation, placed, remembered
from swapmodel.state.classes import tensor_class
from swapmodel.state.heap import Heap, living

Fault = tuple[str, str, str]
"""A place, what the claim promises there, and what is there instead."""


def became_false(
    invariant: str, faults: Callable[[Heap], tuple[Fault, ...]], step: Step
) -> Iterator[Violation]:
    """Yield the faults of the heap after a step that the heap before had not."""
    found = faults(step.then)
    if not found:
        return
    known = {(place, was) for place, was, _ in faults(step.before)}
    kinds = {place: kind for place, kind, _ in placed(step.then)}
    for place, was, now in found:
        if (place, was) not in known:
            kind = kinds.get(place, "variable")
            yield Violation(invariant, place, kind, step.path(place), was, now)


# -- Coherence -----------------------------------------------------------------------


def coherence(step: Step) -> Iterator[Violation]:
    """
    A wrapper's own dtype, device and size are those of its inner tensors.

    And its class is one that handles what is intercepted for it.
    """
    # [invariant/coherence]
    yield from became_false("coherence", incoherent, step)


@remembered
def incoherent(heap: Heap) -> tuple[Fault, ...]:
    """Where a wrapper and its inner tensors disagree, or class and impl."""
    intercepted = any(impl.python_key for _, impl in living(heap.impls))
    handled = any(tensor_class(one.cls).inner for _, one in living(heap.tensors))
    return tuple(_incoherent(heap)) if intercepted or handled else ()


def _incoherent(heap: Heap) -> Iterator[Fault]:
    for place, _, t in placed(heap):
        tensor, impl = heap.tensor(t), heap.impl_of(t)
        named = tensor_class(tensor.cls).inner
        if bool(named) != impl.python_key:
            kind = "a wrapper's impl" if impl.python_key else "a plain impl"
            yield place, "class and impl fit", f"{tensor.cls} over {kind}"
        for name, one in tensor.inner:
            inner = heap.impl_of(one)
            for field in ("dtype", "device", "length"):
                outer_has, inner_has = getattr(impl, field), getattr(inner, field)
                if outer_has != inner_has:
                    was = f"{field} of {place}.{name} is that of {place}"
                    yield place, was, f"{outer_has} outside, {inner_has} inside"


# -- Well-formed ---------------------------------------------------------------------


def well_formed(step: Step) -> Iterator[Violation]:
    """The structural laws of a heap, which no operation can break."""
    # [invariant/well-formed] What is malformed has no places to be trusted.
    known = {(where, law) for where, law, _ in malformed(step.before)}
    for where, law, now in malformed(step.then):
        if (where, law) not in known:
            path = step.converted[-1].path if step.converted else "direct"
            yield Violation("well-formed", where, "variable", path, law, now)


@remembered
def malformed(heap: Heap) -> tuple[Fault, ...]:
    """Every structural law that a heap breaks, and where."""
    return tuple(_malformed(heap))


def _malformed(heap: Heap) -> Iterator[Fault]:
    if list(heap.names) != sorted({held[0]: held for held in heap.names}.values()):
        yield "", "variables are sorted and unique", f"{[n for n, *_ in heap.names]}"
    yield from _handles(heap)
    yield from _sizes(heap)
    yield from _graph(heap)


def _handles(heap: Heap) -> Iterator[Fault]:
    objects, impls = dict(living(heap.tensors)), dict(living(heap.impls))
    for t, tensor in objects.items():
        impl = impls.get(tensor.impl)
        if impl is None or impl.pyobj != t:
            yield f"tensor {t}", "a tensor and its impl know each other", f"{impl}"
    metas = dict(living(heap.metas))
    for i, impl in impls.items():
        if impl.pyobj not in objects or i not in metas:
            yield f"impl {i}", "an impl has an object and autograd metadata", "none"


def _sizes(heap: Heap) -> Iterator[Fault]:
    counters, storages = dict(living(heap.counters)), dict(living(heap.storages))
    for i, impl in living(heap.impls):
        if impl.counter not in counters:
            yield f"impl {i}", "an impl has a version counter", "released"
        if impl.storage is None:
            continue
        storage = storages.get(impl.storage)
        if storage is None:
            yield f"impl {i}", "an impl has its storage", "released"
        elif storage.values is not None:
            end = impl.offset + impl.length
            if impl.offset < 0 or end > len(storage.values):
                yield f"impl {i}", "a tensor lies within its storage", f"ends at {end}"


def _graph(heap: Heap) -> Iterator[Fault]:
    impls, nodes = dict(living(heap.impls)), dict(living(heap.nodes))
    for i, meta in living(heap.metas):
        for name in ("grad", "base"):
            other = getattr(meta, name)
            if other is not None and other not in impls:
                yield f"impl {i}", f"its {name} is alive", "released"
        if meta.grad_fn is not None and meta.grad_fn not in nodes:
            yield f"impl {i}", "its grad_fn is alive", "released"
        if meta.accumulator is not None:
            node = nodes.get(meta.accumulator)
            if node is None or node.variable != i:
                yield f"impl {i}", "its AccumulateGrad is its own", f"{node}"
    for n, node in nodes.items():
        owned = [saved.impl for saved in node.saved]
        if node.variable is not None:
            owned.append(node.variable)
        if any(one not in impls for one in owned):
            yield f"node {n}", "what a node owns is alive", "released"
