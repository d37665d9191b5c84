"""The laws that a heap cannot break, each shown by a heap that breaks it."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.actions import (
    FillGrad,
    Forward,
    MakeOptimizer,
    OptimizerStep,
    Program,
    TakeWeakref,
    View,
)
from swapmodel.invariants.of_structure import malformed, well_formed
from swapmodel.invariants.violation import Step
from swapmodel.outcomes import Done
from swapmodel.state.heap import Heap
from tests.heaps import (
    LATE,
    NEW,
    STARTS,
    at,
    done,
    module,
    programs,
    runs,
    spec,
    with_row,
)

GOOD = done(module(), Forward("square", "p", "y"), View("t", "v"))

P, T, Y = (GOOD.tensor(at(GOOD, place)).impl for place in ("p", "t", "y"))
V = GOOD.tensor(at(GOOD, "v")).impl
SQUARE = GOOD.meta(Y).grad_fn
ACCUMULATE = GOOD.meta(P).accumulator
assert SQUARE is not None
assert ACCUMULATE is not None


def without(column: str, position: int) -> Heap:
    """The good heap with one position released."""
    rows: list[Any] = list(getattr(GOOD, column))
    rows[position] = None
    columns: Any = {column: tuple(rows)}
    return attrs.evolve(GOOD, **columns)


def named(names: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Heap:
    """The good heap with other variables."""
    return attrs.evolve(GOOD, names=names(GOOD.names))


SAVED = GOOD.node(SQUARE).saved[0]

MALFORMED: list[tuple[str, Heap, str]] = [
    ("", named(lambda names: names[::-1]), "variables are sorted and unique"),
    ("", named(lambda names: (names[0], *names)), "variables are sorted and unique"),
    (f"tensor {at(GOOD, 't')}", without("impls", T), "know each other"),
    (
        f"tensor {at(GOOD, 't')}",
        with_row(GOOD, "impls", T, pyobj=at(GOOD, "p")),
        "know each other",
    ),
    (f"impl {T}", without("tensors", at(GOOD, "t")), "has an object"),
    (f"impl {T}", without("metas", T), "has an object"),
    (f"impl {P}", without("counters", GOOD.impl(P).counter), "a version counter"),
    (f"impl {P}", without("storages", int(GOOD.impl(P).storage or 0)), "its storage"),
    (f"impl {T}", with_row(GOOD, "impls", T, offset=1), "lies within its storage"),
    (f"impl {T}", with_row(GOOD, "impls", T, offset=-1), "lies within its storage"),
    (
        f"impl {P}",
        with_row(GOOD, "metas", P, grad=len(GOOD.impls)),
        "the impls that metadata own",
    ),
    (
        f"impl {V}",
        with_row(GOOD, "metas", V, base=len(GOOD.impls)),
        "the impls that metadata own",
    ),
    (f"impl {Y}", without("nodes", SQUARE), "the nodes of a tensor"),
    (f"impl {P}", without("nodes", ACCUMULATE), "its AccumulateGrad is its own"),
    (
        f"impl {T}",
        with_row(GOOD, "metas", T, accumulator=ACCUMULATE),
        "its AccumulateGrad is its own",
    ),
    (
        f"node {ACCUMULATE}",
        with_row(GOOD, "nodes", ACCUMULATE, variable=len(GOOD.impls)),
        "the impls that a node owns",
    ),
    (
        f"node {SQUARE}",
        with_row(
            GOOD,
            "nodes",
            SQUARE,
            saved=(attrs.evolve(SAVED, impl=len(GOOD.impls)),),  # type: ignore[misc]
        ),
        "the impls that a node owns",
    ),
]


HELD = done(
    module(),
    MakeOptimizer("Adam", "m", "opt"),
    OptimizerStep("opt"),
    TakeWeakref("_WeakTensorRef", "p", "r"),
)
OPTIMIZER = next(position for _, kind, position in HELD.names if kind == "optimizer")


def test_state_of_a_parameter_that_is_not_listed() -> None:
    """An optimizer keeps state for its own parameters alone."""
    heap = with_row(HELD, "optimizers", OPTIMIZER, groups=())

    assert list(malformed(HELD)) == []
    laws = {
        law for where, law, _ in malformed(heap) if where == f"optimizer {OPTIMIZER}"
    }
    assert laws == {"state is that of parameters"}


def test_a_good_heap() -> None:
    """The heap that is broken below is well formed."""
    assert list(malformed(GOOD)) == []


def test_undefined_values_have_no_end() -> None:
    """A storage of which nobody knows the values holds whatever lies in it."""
    s = GOOD.impl(T).storage
    assert s is not None

    assert list(malformed(with_row(GOOD, "storages", s, values=None))) == []


@pytest.mark.parametrize(("place", "heap", "law"), MALFORMED)
def test_structural_laws(place: str, heap: Heap, law: str) -> None:
    """Each law is reported where a heap breaks it."""
    assert any(
        where == place and law in promised for where, promised, _ in malformed(heap)
    )


@pytest.mark.parametrize(("place", "heap", "law"), MALFORMED)
def test_a_broken_heap_is_reported_once(place: str, heap: Heap, law: str) -> None:
    """A law is reported on the step that breaks it and not on the ones after it."""
    breaking = Step(GOOD, FillGrad("t"), Done(heap), spec(NEW))
    after = Step(heap, FillGrad("t"), Done(heap), spec(NEW))

    assert place in {one.place for one in well_formed(breaking)}
    assert {one.invariant for one in well_formed(breaking)} == {"well-formed"}
    assert list(well_formed(after)) == []


@given(start=st.sampled_from(STARTS), program=programs())
def test_no_program_breaks_a_law(start: Heap, program: Program) -> None:
    """Whatever a program does, refused or not, its heaps are well formed."""
    for under in (LATE, NEW):
        for heap in runs(start, program, spec(under)):
            assert list(malformed(heap)) == []
