"""The key keeps what can be told apart, and nothing else."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from attrs import evolve

from swapmodel.actions import (
    Action,
    Cast,
    ClearGrad,
    Convert,
    Drop,
    FillGrad,
    Forward,
    RegisterHook,
    SetAttribute,
    TakeWeakref,
    View,
)
from swapmodel.outcomes import Done
from swapmodel.run import run
from swapmodel.search.canonical import FAR, WIDE, canonical, packed
from swapmodel.search.shapes import RECORDED_VERSIONS
from swapmodel.state.autograd import Node, SavedVariable
from swapmodel.state.heap import COLUMNS, Heap, living
from swapmodel.state.holders import Flags
from swapmodel.state.ids import ImplId, NodeId, TensorId
from swapmodel.state.optimizers import StateEntry
from tests.search.starts import module, spec

RICH = (
    RegisterHook("m.weight", "h"),
    SetAttribute("m.weight", "tag"),
    View("m.weight", "v"),
    Forward("square", "m.weight", "y"),
    Forward("scale", "m.weight", "z"),
    TakeWeakref("ReferenceType", "m.weight", "r"),
    TakeWeakref("_WeakTensorRef", "t", "i"),
    TakeWeakref("guard", "m.weight", "g"),
)
"""A program after which nearly every field of every record says something."""

ADDED: dict[str, tuple[Any, ...]] = {
    "attributes": (("more", 1),),
    "inner": (("more", 0),),
    "slots": (("more", 1),),
    "hooks": (0,),
    "edges": (None,),
    "saved": (SavedVariable(impl=ImplId(0), version=0),),
    "entries": ("more",),
    "parameters": (("more", 0),),
    "buffers": (("more", 0),),
    "children": (("more", 0),),
    "flat_weights_names": ("more",),
    "flat_weights": (0,),
    "flat_weight_refs": (None,),
    "values": (5,),
    "ghost_values": (None,),
    "noted": (1,),
    "replayed": (ImplId(0),),
    "window": (0,),
    "state": (StateEntry(parameter=TensorId(0)),),
}
"""What can be added to a field that is a tuple; a new one needs an entry."""

POINTERS = {
    "impl": "impls",
    "storage": "storages",
    "pyobj": "tensors",
    "counter": "counters",
    "grad": "impls",
    "grad_fn": "nodes",
    "base": "impls",
    "accumulator": "nodes",
    "retains": "impls",
    "post_hooks": "hooks",
    "backward_hooks": "hooks",
    "post_accumulate_grad_hooks": "hooks",
    "variable": "impls",
    "tensor": "tensors",
    "ghost_tensor": "tensors",
    "ghost_impl": "impls",
}
"""The fields that are one position, with its column; a new one needs an entry."""


def after(start: Heap, *program: Action) -> Heap:
    """The heap after a program that nothing refuses."""
    trace = run(start, program, spec("torch-2.4"))
    assert all(isinstance(one, Done) for one in trace.outcomes), trace.outcomes
    return trace.heaps[-1]


def others(heap: Heap, name: str, value: Any) -> Iterator[Any]:
    """Other values that a field could have."""
    if name in POINTERS:
        column = POINTERS[name]
        yield from (n for n, _ in living(getattr(heap, column)) if n != value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
    elif isinstance(value, str):
        yield f"{value}2"
    else:
        assert isinstance(value, tuple), f"say in POINTERS or ADDED what {name} can be"
        yield (*value, *ADDED[name])
        yield from [value[:-1]] * bool(value)


def mutants(heap: Heap) -> Iterator[tuple[str, Heap]]:
    """Yield the heap with one field of one record changed, in every way."""
    for column in COLUMNS:
        if column == "counters":
            continue
        for position, record in living(getattr(heap, column)):
            for field in attrs.fields(type(record)):
                if field.name == "view_version" and record.base is None:
                    continue
                for value in others(heap, field.name, getattr(record, field.name)):
                    rows = list(getattr(heap, column))
                    rows[position] = evolve(record, **{field.name: value})
                    name = f"{column}[{position}].{field.name} = {value}"
                    changed: dict[str, Any] = {column: tuple(rows)}
                    yield name, evolve(heap, **changed)


@pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])
def test_every_field_counts(cls: str) -> None:
    """Changing any field of any record changes the key."""
    heap = after(module(cls), *RICH)
    key = canonical(heap)

    seen = [name for name, mutant in mutants(heap) if canonical(mutant) == key]

    assert seen == []


def test_roots_count() -> None:
    """The variables and the flags are in the key."""
    heap = module()
    mutants = (
        evolve(heap, flags=Flags(swap=True)),
        evolve(heap, flags=Flags(overwrite=True)),
        evolve(heap, names=heap.names[:1]),
        evolve(heap, names=tuple((f"{n}2", k, p) for n, k, p in heap.names)),
    )

    assert len({canonical(one) for one in (heap, *mutants)}) == 1 + len(mutants)


def there_and_back(start: Heap) -> Iterator[tuple[str, Heap]]:
    """Yield heaps that only their history tells from the start."""
    there, back = Convert("m", Cast("float64")), Convert("m", Cast("float32"))
    yield "conversion", after(start, there, back)
    yield "dropped view", after(start, View("m.weight", "v"), Drop("v"))
    yield "graph", after(start, Forward("square", "m.weight", "y"), Drop("y"))
    ref = TakeWeakref("ReferenceType", "m.weight", "r")
    yield "weakref", after(start, ref, Drop("r"))
    yield "gradient", after(start, ClearGrad("m.weight"), FillGrad("m.weight"))


@pytest.mark.parametrize("swap", [False, True])
def test_history_does_not_count(swap: bool) -> None:
    """Positions and what was dropped leave no trace in the key."""
    start = module(swap=swap)
    key = canonical(start)

    for why, heap in there_and_back(start):
        assert canonical(heap) == key, why
        assert heap != start, why


def test_an_unrecorded_version_does_not_count() -> None:
    """A counter counts only against the versions that saved tensors recorded."""
    start = after(module(), Forward("square", "m.weight", "y"))
    weight = start.impls[0]
    keys = []
    for counter in range(len(start.counters)):
        counted = list(start.counters)
        for _ in range(FAR + 2):
            counted[counter] += 1
            keys.append((counter, canonical(evolve(start, counters=tuple(counted)))))

    ahead = [key for counter, key in keys if counter == weight.counter]
    assert len({canonical(start), *ahead}) == 1 + FAR
    assert {canonical(start)} == {k for c, k in keys if c != weight.counter}


def test_every_recorded_version_is_known() -> None:
    """A field that records a version is compared with its counter, not written."""
    recorded = {
        (kind.__name__, field.name)
        for kind in (*map(type, _records()), SavedVariable)
        for field in attrs.fields(kind)
        if "version" in field.name
    }

    assert recorded == RECORDED_VERSIONS


def _records() -> Iterator[Any]:
    heap = after(module(), *RICH)
    for column in COLUMNS:
        if column != "counters":
            yield from (record for _, record in living(getattr(heap, column)))


def test_dead_weakrefs_are_alike() -> None:
    """Weak references whose tensor is gone count as long as they have a name."""
    take = TakeWeakref("ReferenceType", "t", "q")
    dead = after(module(), take, Drop("t"))
    again = after(module(), Drop("t"), View("m.weight", "t"), take, Drop("t"))

    assert canonical(dead) == canonical(again)
    assert canonical(dead) != canonical(after(module(), Drop("t")))
    assert canonical(after(dead, Drop("q"))) == canonical(after(module(), Drop("t")))


def test_a_finalizer_without_a_name_counts() -> None:
    """A registry keeps it: it refuses a swap and reports the death."""
    take = TakeWeakref("finalize", "t", "q")
    kept = after(module(), take, Drop("q"))
    other = after(module(), TakeWeakref("finalize", "m.weight", "q"), Drop("q"))
    again = after(module(), TakeWeakref("finalize", "t", "r"), Drop("r"))

    assert len({*map(canonical, (module(), kept, other, again))}) == 4
    assert canonical(after(kept, take, Drop("q"))) != canonical(kept)


def test_nodes_of_a_joined_graph_keep_their_order() -> None:
    """Which of two nodes is newer counts once a node has both behind it."""

    def node(*edges: int) -> Node:
        behind = tuple(NodeId(one) for one in edges)
        return Node(name="N", function="f", dtype="d", length=2, edges=behind)

    def joined(first: int, second: int) -> Heap:
        heap = after(module(), Forward("scale", "m.weight", "y"))
        size = len(heap.nodes)
        nodes = (*heap.nodes, node(), node(), node(size + first, size + second))
        y = heap.tensor(TensorId({name: at for name, _, at in heap.names}["y"]))
        metas: list[Any] = list(heap.metas)
        metas[y.impl] = evolve(metas[y.impl], grad_fn=NodeId(size + 2))
        return evolve(heap, nodes=nodes, metas=tuple(metas))

    assert canonical(joined(0, 1)) != canonical(joined(1, 0))


def test_large_numbers_are_packed_apart() -> None:
    """A number too large for a byte makes no key that small numbers make."""
    assert packed([1, 2]) == b"\x01\x02"
    assert packed([256]) == WIDE + b"\x00\x01\x00\x00"


def test_one_key_in_every_process() -> None:
    """Keys do not depend on the seed of Python's hashes."""
    program = (
        "from tests.search.test_canonical import *;"
        "print(canonical(after(module('TwoTensor'), *RICH)).hex())"
    )
    keys = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(keys) == 1
