"""
Which structural laws does a heap keep, whatever is done to it?

A law that is broken is a fault of the model, not of torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from swapmodel.invariants.violation import Step, Violation, remembered
from swapmodel.state.autograd import NO_META
from swapmodel.state.heap import Heap, living
from swapmodel.state.holders import held
from swapmodel.state.optimizers import parameters

Fault = tuple[str, str, str]
"""A thing, the law that it breaks, and what is there instead."""


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
    yield from _variables(heap)
    yield from _objects(heap)
    yield from _impls(heap)
    yield from _metas(heap)
    yield from _nodes(heap)
    yield from _holders(heap)
    yield from _weakrefs(heap)


def _gone(
    where: str, what: str, held: Iterable[int | None], column: Sequence[object]
) -> Iterator[Fault]:
    """One fault for each position that is held, and released or not there."""
    for one in held:
        if one is not None and not _alive(column, one):
            yield where, f"{what} are there", f"{one} is released"


def _alive(column: Sequence[object], position: int) -> bool:
    return 0 <= position < len(column) and column[position] is not None


# -- Variables, objects and impls ----------------------------------------------------


def _variables(heap: Heap) -> Iterator[Fault]:
    if list(heap.names) != sorted({held[0]: held for held in heap.names}.values()):
        yield "", "variables are sorted and unique", f"{[n for n, *_ in heap.names]}"
    for name, kind, position in heap.names:
        column = getattr(heap, f"{kind}s")
        yield from _gone(name, "what variables hold", (position,), column)


def _objects(heap: Heap) -> Iterator[Fault]:
    for t, tensor in living(heap.tensors):
        where = f"tensor {t}"
        impl = heap.impls[tensor.impl] if _alive(heap.impls, tensor.impl) else None
        if impl is None or impl.pyobj != t:
            yield where, "a tensor and its impl know each other", f"{impl}"
        inner = (one for _, one in tensor.inner)
        yield from _gone(where, "inner tensors", inner, heap.tensors)
        listed = (tensor.backward_hooks, tensor.post_accumulate_grad_hooks)
        yield from _gone(where, "listed hooks", listed, heap.hooks)


def _impls(heap: Heap) -> Iterator[Fault]:
    for i, impl in living(heap.impls):
        where = f"impl {i}"
        if not (_alive(heap.tensors, impl.pyobj) and _alive(heap.metas, i)):
            yield where, "an impl has an object and autograd metadata", "none"
        if not _alive(heap.counters, impl.counter):
            yield where, "an impl has a version counter", "released"
        if impl.storage is None:
            continue
        if not _alive(heap.storages, impl.storage):
            yield where, "an impl has its storage", "released"
            continue
        values = heap.storages[impl.storage].values
        if values is not None:
            end = impl.offset + impl.length
            if impl.offset < 0 or end > len(values):
                yield where, "a tensor lies within its storage", f"ends at {end}"


# -- Graphs --------------------------------------------------------------------------


def _metas(heap: Heap) -> Iterator[Fault]:
    for i, meta in living(heap.metas):
        if meta is NO_META:
            continue
        where = f"impl {i}"
        owned = (meta.grad, meta.base, *meta.replayed)
        yield from _gone(where, "the impls that metadata own", owned, heap.impls)
        yield from _gone(where, "the nodes of a tensor", (meta.grad_fn,), heap.nodes)
        fires = (*meta.hooks, meta.post_accumulate_grad_hooks)
        yield from _gone(where, "the hooks that fire", fires, heap.hooks)
        n = meta.accumulator
        if n is None:
            continue
        node = heap.nodes[n] if _alive(heap.nodes, n) else None
        if node is None or node.variable != i:
            yield where, "its AccumulateGrad is its own", f"{node}"


def _nodes(heap: Heap) -> Iterator[Fault]:
    for n, node in living(heap.nodes):
        where = f"node {n}"
        owned = (node.variable, *(saved.impl for saved in node.saved))
        yield from _gone(where, "the impls that a node owns", owned, heap.impls)
        yield from _gone(where, "the nodes behind a node", node.edges, heap.nodes)
        fires = (*node.hooks, node.post_hooks)
        yield from _gone(where, "the hooks that fire", fires, heap.hooks)
        retains = (node.retains,)
        yield from _gone(where, "the impls of retained gradients", retains, heap.impls)


# -- Holders -------------------------------------------------------------------------


def _holders(heap: Heap) -> Iterator[Fault]:
    for m, module in living(heap.modules):
        where = f"module {m}"
        named = (t for _, t in held(module))
        yield from _gone(where, "a module's tensors", named, heap.tensors)
        flat, refs = module.flat_weights, module.flat_weight_refs
        yield from _gone(where, "flat weights", flat, heap.tensors)
        yield from _gone(where, "references of flat weights", refs, heap.weakrefs)
        children = (child for _, child in module.children)
        yield from _gone(where, "children", children, heap.modules)
    for o, optimizer in living(heap.optimizers):
        where = f"optimizer {o}"
        kept = (t for entry in optimizer.state for _, t in entry.tensors)
        listed = (*parameters(optimizer), *kept)
        yield from _gone(where, "an optimizer's tensors", listed, heap.tensors)
        if any(one.parameter not in parameters(optimizer) for one in optimizer.state):
            yield where, "state is that of parameters", f"{optimizer.state}"


def _weakrefs(heap: Heap) -> Iterator[Fault]:
    for w, ref in living(heap.weakrefs):
        where = f"weakref {w}"
        yield from _gone(where, "live targets", (ref.tensor,), heap.tensors)
        yield from _gone(where, "live targets", (ref.impl,), heap.impls)
