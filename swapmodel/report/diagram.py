"""
How does the neighbourhood of a place look, as a Mermaid graph of objects?
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.report.changes import summary
from swapmodel.report.spelling import dtype, expression
from swapmodel.semantics import ownership, places
from swapmodel.state.heap import Heap, living
from swapmodel.state.ids import ImplId, NodeId, TensorId


def diagram(heap: Heap, place: str) -> str:
    """
    Draw what stands at a place, what it belongs to, and who owns it.

    Boxes are Python objects, rounded boxes impls, cylinders storages and hexagons
    graph nodes; a dotted edge is a weak reference.
    """
    drawing = _Drawing(heap)
    lines = [*drawing.around(place)]
    return "\n".join(["graph LR", *(f"  {one}" for one in lines)]) + "\n"


class _Drawing:
    """What is drawn by now."""

    def __init__(self, heap: Heap) -> None:
        self.heap = heap
        self.drawn: set[tuple[str, int]] = set()
        self.standing: dict[TensorId, list[str]] = {}
        for place, t in places.places(heap):
            self.standing.setdefault(t, []).append(expression(place))

    def around(self, place: str) -> Iterator[str]:
        """The tensor that a place goes through first, and all that hangs on it."""
        known = dict(places.places(self.heap))
        whole = place.split(".")
        steps = (".".join(whole[:end]) for end in range(1, len(whole) + 1))
        root = next((known[step] for step in steps if step in known), None)
        if root is None:
            yield f'nothing["nothing stands at {place}"]'
            return
        yield from self.tensor(root)

    def once(self, kind: str, position: int) -> bool:
        """Whether this is the first time that a thing is asked for."""
        new = (kind, position) not in self.drawn
        self.drawn.add((kind, position))
        return new

    def tensor(self, t: TensorId) -> Iterator[str]:
        if not self.once("object", t):
            return
        tensor = self.heap.tensor(t)
        named = ", ".join(self.standing.get(t, ["no name"]))
        told = [named, f"object {t}: {tensor.cls}"]
        told += [f"{key} = {value}" for key, value in tensor.attributes]
        if tensor.backward_hooks is not None:
            entries = self.heap.hooks_at(tensor.backward_hooks).entries
            told.append(f"lists hooks {', '.join(entries)}")
        yield f't{t}["{"<br/>".join(told)}"]'
        yield f"t{t} --> i{tensor.impl}"
        yield from self.impl(tensor.impl)
        for name, inner in tensor.inner:
            yield f"t{t} -- {name} --> t{inner}"
            yield from self.tensor(inner)
        for w, ref in living(self.heap.weakrefs):
            if ref.tensor == t:
                yield f'w{w}["{ref.keeper}"] -.-> t{t}'

    def impl(self, i: ImplId) -> Iterator[str]:
        if not self.once("impl", i):
            return
        impl, meta = self.heap.impl(i), self.heap.meta(i)
        told = [f"impl {i}", dtype(impl.dtype)]
        if meta.requires_grad:
            told.append("requires_grad")
        fire = [one for h in meta.hooks for one in self.heap.hooks_at(h).entries]
        if fire:
            told.append(f"fires hooks {', '.join(fire)}")
        yield f'i{i}("{"<br/>".join(told)}")'
        if impl.storage is not None:
            yield f"i{i} --> s{impl.storage}"
            if self.once("storage", impl.storage):
                values = self.heap.storage(impl.storage).values
                shown = "undefined" if values is None else list(values)
                yield f's{impl.storage}[("{shown}")]'
        if meta.grad is not None:
            yield f"i{i} -- grad --> i{meta.grad}"
            yield from self.tensor(self.heap.impl(meta.grad).pyobj)
        if impl.pyobj not in {t for kind, t in self.drawn if kind == "object"}:
            yield f"i{i} -- Python object --> t{impl.pyobj}"
            yield from self.tensor(impl.pyobj)
        yield from self.owners(i)

    def owners(self, i: ImplId) -> Iterator[str]:
        """Graph nodes and views that own an impl, and weak pointers at it."""
        for kind, position in ownership.owners(self.heap, i):
            if kind in ("AccumulateGrad", "saved"):
                yield f"n{position} -- {kind} --> i{i}"
                yield from self.node(NodeId(position))
            elif kind == "view":
                t = self.heap.impl(ImplId(position)).pyobj
                yield f"i{position} -- base --> i{i}"
                yield from self.tensor(t)
        for w, ref in living(self.heap.weakrefs):
            if ref.impl == i:
                yield f'w{w}["{ref.keeper}"] -.-> i{i}'

    def node(self, n: NodeId) -> Iterator[str]:
        if not self.once("node", n):
            return
        node = self.heap.node(n)
        poison = "<br/>poisoned" if node.poisoned else ""
        yield f'n{n}{{{{"{node.name}{poison}"}}}}'
        for t, tensor in living(self.heap.tensors):
            if self.heap.meta(tensor.impl).grad_fn == n:
                yield f'o{t}["{self.named(TensorId(t))}"] -- grad_fn --> n{n}'
        for other, one in living(self.heap.nodes):
            if n in one.edges:
                yield f"n{other} --> n{n}"
                yield from self.node(NodeId(other))

    def named(self, t: TensorId) -> str:
        """An output by its places, else by what it is."""
        return ", ".join(self.standing.get(t, [summary(self.heap, t)]))
