"""Places: what stands where, and under which names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.actions import (
    Deepcopy,
    MakeOptimizer,
    OptimizerStep,
    Program,
    TakeWeakref,
)
from swapmodel.outcomes import OutOfScope
from swapmodel.report.start import start_lines
from swapmodel.semantics.places import (
    holds_none,
    modules,
    placements,
    places,
    resolve,
    segments,
)
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import NEW, STARTS, done, module, programs, runs, spec


def nested() -> Heap:
    """A module with a child, a tie, a buffer, gaps, and a wrapper with a gradient."""
    build = Builder()
    w = build.parameter(cls="TwoTensor")
    build.gradient(w, build.tensor(cls="TwoTensor"))
    shared = build.parameter()
    child = build.module({"weight": w, "tied": shared})
    m = build.module(
        {"first": shared, "none": None},
        buffers={"running": build.tensor(), "gone": None},
        children={"child": child},
    )
    build.name("m", "module", m)
    build.name("a", "tensor", shared)
    return build.heap()


NESTED = nested()


def test_placements() -> None:
    """Every place is listed once per registration, in the order of the names."""
    assert [(place, kind) for place, kind, _ in placements(NESTED)] == [
        ("a", "variable"),
        ("m.first", "parameter"),
        ("m.running", "buffer"),
        ("m.child.weight", "parameter"),
        ("m.child.weight.a", "inner"),
        ("m.child.weight.b", "inner"),
        ("m.child.weight.grad", "gradient"),
        ("m.child.weight.grad.a", "inner"),
        ("m.child.weight.grad.b", "inner"),
        ("m.child.tied", "parameter"),
    ]


def test_flat_weights() -> None:
    """What an RNN lists a second time stands at a place, and is placed once."""
    build = Builder()
    rnn = build.module({"weight_ih_l0": build.parameter()}, cls="RNN")
    build.name("m", "module", rnn)
    heap = build.heap()

    assert resolve(heap, "m._flat_weights[0]") == ("tensor", 0)
    assert resolve(heap, "m._flat_weights[1]") is None
    assert [place for place, _ in places(heap)] == ["m.weight_ih_l0"]


def test_modules() -> None:
    """A module that stands at several places is told once, at the first."""
    build = Builder()
    child = build.module()
    one = build.module(children={"c": child, "d": child})
    build.name("m", "module", one)
    build.name("n", "module", build.module(children={"e": one, "f": child}))

    assert list(modules(build.heap())) == [("m", 1), ("m.c", 0), ("n", 2)]


def test_places_are_placements() -> None:
    """`places` gives the same places without their kinds."""
    assert list(places(NESTED)) == [(one, t) for one, _, t in placements(NESTED)]


def test_a_tie_is_followed_once() -> None:
    """What hangs on a tensor is listed at its first place only."""
    build = Builder()
    w = build.parameter()
    build.gradient(w, build.tensor())
    build.name("m", "module", build.module({"one": w, "two": w}))

    assert [place for place, _ in places(build.heap())] == [
        "m.one",
        "m.one.grad",
        "m.two",
    ]


@given(start=st.sampled_from((*STARTS, NESTED)), program=programs())
def test_every_place_resolves(start: Heap, program: Program) -> None:
    """What is listed at a place is what stands there."""
    for heap in runs(start, program, spec(NEW)):
        for place, t in places(heap):
            assert resolve(heap, place) == ("tensor", t)


@pytest.mark.parametrize(
    "place",
    [
        "x",
        "m.none",
        "m.gone",
        "m.missing",
        "m.first.grad",
        "m.first.a",
        "m.first.missing",
        "m.missing.weight",
        "m.child.weight.c",
        "",
        "m.",
    ],
)
def test_nothing_stands_there(place: str) -> None:
    """Where Python would raise, nothing stands."""
    assert resolve(NESTED, place) is None


def test_what_is_no_tensor() -> None:
    """Modules and weak references stand at places too; a reference has none behind."""
    heap = done(module(), TakeWeakref("ReferenceType", "p", "r"))

    assert resolve(NESTED, "m.child") == ("module", 0)
    assert resolve(heap, "r") == ("weakref", 0)
    assert resolve(heap, "r.grad") is None


def test_segments() -> None:
    """A place is a variable and the attributes behind it."""
    assert segments("m.child.weight") == ("m", "child", "weight")
    assert segments("p") == ("p",)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("m.none", True),
        ("m.gone", True),
        ("a.grad", True),
        ("m.child.weight.grad", False),
        ("m.first", False),
        ("m.nothing", False),
        ("a.b", False),
        ("x", False),
    ],
)
def test_where_nothing_stands(place: str, expected: bool) -> None:
    """Python reads `None` where a gradient or a registration is empty."""
    assert holds_none(NESTED, place) == expected


def test_modules_among_other_variables() -> None:
    """Tensors and weak references are no modules, and nothing reads as `None` there."""
    heap = done(module(), TakeWeakref("ReferenceType", "p", "a"))

    assert [place for place, _ in modules(heap)] == ["m"]
    assert not holds_none(heap, "a.grad")


def test_what_an_optimizer_refers_to() -> None:
    """Its parameters and its state stand behind it, in the order of its groups."""
    make = MakeOptimizer("SGD-momentum", "m", "a")
    heap = done(module(), make, OptimizerStep("a"))
    found = [one[:2] for one in placements(heap) if one[0].startswith("a.")]

    assert found == [
        ("a.param_groups[0][0]", "optimizer"),
        ("a.param_groups[0][0].grad", "gradient"),
        ("a.state[0][0].momentum_buffer", "optimizer"),
    ]


def test_gradients_of_gradients() -> None:
    """A chain that is longer than Python's stack is followed to its end."""
    build = Builder()
    t = last = build.tensor()
    for _ in range(1500):
        t, under = build.tensor(), t
        build.gradient(t, under)
    build.name("t", "tensor", t)
    heap = build.heap()

    found = list(placements(heap))
    assert len(found) == 1501
    assert found[-1] == ("t" + ".grad" * 1500, "gradient", last)
    assert resolve(heap, found[-1][0]) == ("tensor", last)
    assert len(list(start_lines(heap))) == 1501
    assert isinstance(step(heap, Deepcopy("t", "c"), spec(NEW)), OutOfScope)


def test_what_a_plain_attribute_hides_has_no_place() -> None:
    """Python finds the attribute first, and so does whoever resolves the place."""
    b = Builder()
    hidden, plain = b.parameter(), b.tensor()
    b.name("m", "module", b.module({"x": hidden}, attributes={"x": plain}))

    assert list(placements(b.heap())) == [("m.x", "attribute", plain)]
    assert resolve(b.heap(), "m.x") == ("tensor", plain)
