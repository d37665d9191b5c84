"""Ownership: use counts as measured on torch, and what stays alive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.actions import (
    Action,
    Backward,
    Drop,
    Forward,
    Program,
    RegisterHook,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.invariants.of_structure import malformed
from swapmodel.semantics.ownership import collect, owners, use_count, weak_count
from swapmodel.semantics.spec import Frame
from swapmodel.state.autograd import Node
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.heap import COLUMNS, Heap, living
from swapmodel.state.holders import Module
from swapmodel.state.ids import ModuleId
from tests.heaps import NEW, STARTS, at, done, module, programs, runs, spec


def count(heap: Heap, place: str) -> int:
    """The use count of the tensor at a place."""
    return use_count(Draft(heap), at(heap, place))


def released(heap: Heap, column: str) -> int:
    """How many positions of a column are released."""
    rows = getattr(heap, column)
    return len(rows) - len(list(living(rows)))


MEASURED: list[tuple[str, str, tuple[Action, ...], str, int]] = [
    ("nothing else", "Parameter", (), "p", 1),
    ("a module", "Parameter", (), "m.weight", 1),
    ("a gradient", "Parameter", (), "m.weight.grad", 2),
    ("scale", "Parameter", (Forward("scale", "p", "y"),), "p", 2),
    ("square", "Parameter", (Forward("square", "p", "y"),), "p", 3),
    ("a view", "Parameter", (View("p", "v"),), "p", 3),
    ("a view outside graphs", "Parameter", (View("t", "v"),), "t", 2),
    ("a view of a wrapper", "TwoTensor", (View("p", "v"),), "p", 4),
    ("two views", "Parameter", (View("t", "v"), View("v", "w")), "t", 3),
    ("the view itself", "Parameter", (View("p", "v"),), "v", 1),
    ("a hook", "Parameter", (RegisterHook("p", "h"),), "p", 1),
    ("weakrefs", "Parameter", (TakeWeakref("_WeakTensorRef", "p", "r"),), "p", 1),
    ("two graphs", "Parameter", (Forward("scale", "p", "y"), View("p", "v")), "p", 3),
    ("backward", "Parameter", (Forward("square", "p", "y"), Backward("y")), "p", 2),
    ("output gone", "Parameter", (Forward("square", "p", "y"), Drop("y")), "p", 1),
]


@pytest.mark.parametrize(
    ("cls", "program", "place", "measured"),
    [one[1:] for one in MEASURED],
    ids=[one[0] for one in MEASURED],
)
def test_use_counts(cls: str, program: Program, place: str, measured: int) -> None:
    """A tensor's owners are those that torch counts."""
    heap = done(module(cls), *program)

    assert measured == count(heap, place)
    assert measured == sum(1 for _ in owners(heap, heap.tensor(at(heap, place)).impl))


def test_owners_have_names() -> None:
    """Each owner is told by its kind, so that a report names it and not a number."""
    heap = done(module("TwoTensor"), Forward("square", "p", "y"), View("p", "v"))
    kinds = sorted(kind for kind, _ in owners(heap, heap.tensor(at(heap, "p")).impl))

    assert kinds == [
        "AccumulateGrad",
        "python object",
        "saved",
        "view",
        "view function",
    ]


def test_owners_go_with_the_impl() -> None:
    """After a swap the graph owns what the other object stands for."""
    heap = done(module(), Forward("scale", "p", "y"), SwapTensors("p", "t"), under=NEW)

    assert (count(heap, "p"), count(heap, "t")) == (1, 2)


def test_what_cannot_be_reached_does_not_count() -> None:
    """An owner that is lost already is gone before a check counts."""
    heap = done(module(), Forward("square", "p", "y"))
    draft = Draft(heap)
    draft.unbind("y")

    assert use_count(draft, at(heap, "p")) == 1


def test_weak_pointers_of_the_impl() -> None:
    """C++ weak pointers count on the impl, references of the object do not."""
    heap = done(
        module(),
        TakeWeakref("_WeakTensorRef", "p", "a"),
        TakeWeakref("_WeakTensorRef", "p", "b"),
        TakeWeakref("ReferenceType", "p", "r"),
    )
    draft = Draft(heap)
    i = heap.tensor(at(heap, "t")).impl
    node = Node(name="N", function="view", dtype="float32", length=2, retains=i)
    draft.add_node(node)

    assert weak_count(draft, at(heap, "p")) == 2
    assert weak_count(draft, at(heap, "t")) == 1
    assert weak_count(draft, at(heap, "m.weight")) == 0


def test_nothing_lost_is_kept_beside_a_wrapper() -> None:
    """A null storage is none: it does not stand in for a storage that is lost."""
    heap = done(module("TwoTensor"), Drop("t"))

    assert released(heap, "storages") == 1


# -- Lifetimes -------------------------------------------------------------------------


def test_a_lost_tensor_is_released() -> None:
    """A variable's tensor goes with it: object, impl, metadata, storage, counter."""
    heap = done(module(), Drop("t"))

    assert {"tensors", "impls", "metas", "storages", "counters"} == {
        column for column in COLUMNS if released(heap, column)
    }


def test_a_graph_goes_with_its_output() -> None:
    """Nodes live as long as an output does; the leaf forgets its `AccumulateGrad`."""
    kept = done(module(), Forward("square", "p", "y"))
    heap = done(kept, Drop("y"))

    assert kept.meta_of(at(kept, "p")).accumulator is not None
    assert heap.meta_of(at(heap, "p")).accumulator is None
    assert released(heap, "nodes") == 2


def test_an_impl_preserves_its_object() -> None:
    """A tensor that a graph needs keeps its Python object, without any variable."""
    before = done(module(), Forward("square", "p", "y"))
    p = at(before, "p")
    heap = done(before, Drop("p"))

    assert heap.tensors[p] == before.tensors[p]
    assert done(heap, Drop("y")).tensors[p] is None


def test_cycles_are_released() -> None:
    """A tensor whose gradient was computed from it dies all the same."""
    heap = done(module(), Forward("scale", "p", "y"))
    draft = Draft(heap)
    p = at(heap, "p")
    draft.edit_meta(heap.tensor(p).impl).grad = heap.tensor(at(heap, "y")).impl
    draft.unbind("y")
    collect(draft)

    assert draft.tensors[p] is not None
    draft.unbind("p")
    collect(draft)
    assert draft.tensors[p] is None
    assert not any(draft.nodes)


def test_a_module_that_holds_itself() -> None:
    """Modules in a circle are followed once, and released when nothing names them."""
    draft = Draft(Heap())
    m = draft.add_module(Module(children=(("self", ModuleId(0)),)))
    draft.bind("m", "module", m)
    collect(draft)

    assert draft.modules[m] is not None
    draft.unbind("m")
    collect(draft)
    assert draft.modules[m] is None


@pytest.mark.parametrize("kind", ["ReferenceType", "_WeakTensorRef"])
def test_a_weak_reference_dies_with_what_it_refers_to(kind: str) -> None:
    """A dead reference yields nothing and remembers only as a ghost."""
    heap = done(module(), TakeWeakref(kind, "t", "r"))  # type: ignore[arg-type]
    t = at(heap, "t")
    dead = done(heap, Drop("t"))
    (ref,) = dead.weakrefs

    assert (ref.tensor, ref.impl, ref.ghost_tensor) == (None, None, t)
    assert not any(done(dead, Drop("r")).weakrefs)


def test_a_weak_reference_of_a_preserved_object_lives() -> None:
    """What a graph keeps alive can still be had from a weak reference."""
    heap = done(
        module(),
        TakeWeakref("ReferenceType", "p", "r"),
        Forward("square", "p", "y"),
        Drop("p"),
    )

    assert heap.weakrefs[0].tensor is not None


def test_hooks_live_as_long_as_they_are_listed_or_fire() -> None:
    """A swap parts who lists hooks from what fires them; either keeps them."""
    listed = done(module(), RegisterHook("p", "h"), SwapTensors("p", "t"))
    fires = done(listed, Drop("p"))

    assert listed.hooks_at(fires.meta_of(at(fires, "t")).hooks[0]).entries == ("h",)
    assert not any(done(fires, Drop("t")).hooks)


def test_hooks_of_a_node() -> None:
    """Hooks on a computed tensor live with its node."""
    heap = done(
        module(), Forward("scale", "p", "y"), RegisterHook("y", "h"), View("y", "v")
    )
    behind = done(heap, Drop("y"))

    assert behind.hooks[0].entries == ("h",)
    assert not any(done(behind, Drop("v")).hooks)


def test_local_variables_keep_alive() -> None:
    """What a running operation holds is alive until the action ends."""
    heap = module()
    t = at(heap, "t")
    draft = Draft(heap)
    frame = Frame(spec(NEW))
    frame.t1 = t
    draft.frames.append(frame)
    draft.unbind("t")
    collect(draft)

    assert draft.tensors[t] is not None
    draft.frames.clear()
    collect(draft)
    assert draft.tensors[t] is None


def test_inner_tensors_and_buffers_are_held() -> None:
    """A wrapper holds its inner tensors, a module its buffers and its children."""
    build = Builder()
    child = build.module({"weight": build.parameter(cls="TwoTensor")})
    build.name(
        "m",
        "module",
        build.module(buffers={"b": build.tensor()}, children={"c": child}),
    )
    heap = build.heap()
    draft = Draft(heap)
    collect(draft)

    assert draft.sealed() == heap
    draft.unbind("m")
    collect(draft)
    assert not any(any(getattr(draft, column)) for column in COLUMNS)


def test_an_inner_tensor_with_a_name_of_its_own() -> None:
    """An inner tensor outlives its wrapper as long as a variable stands for it."""
    build = Builder()
    w = build.tensor(cls="TwoTensor")
    heap = build.heap()
    (_, inner), _ = heap.tensor(w).inner
    build.name("a", "tensor", inner)
    build.name("w", "tensor", w)
    then = done(build.heap(), Drop("w"))
    draft = Draft(build.heap())
    collect(draft)

    assert draft.sealed() == build.heap()
    assert [t for t, _ in living(then.tensors)] == [inner]
    assert done(build.heap(), Drop("a")).tensors == heap.tensors


@given(start=st.sampled_from(STARTS), program=programs())
def test_collecting_again_finds_nothing(start: Heap, program: Program) -> None:
    """After an action everything that is left is reached, and nothing dangles."""
    for heap in runs(start, program, spec(NEW)):
        draft = Draft(heap)
        collect(draft)

        assert draft.sealed() == heap
        assert list(malformed(heap)) == []
