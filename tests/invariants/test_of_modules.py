"""What a conversion leaves as it was: objects, ties, observers, memory, kinds."""

import pytest

from swapmodel.actions import (
    Cast,
    Convert,
    Detach,
    Drop,
    Forward,
    MakeOptimizer,
    NameTensor,
    Program,
    RequiresGrad,
    TakeWeakref,
    Tie,
    Write,
)
from swapmodel.conversions import DetachEach, Other, ToDevice, Unwrap, Wrap
from swapmodel.outcomes import Refused
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import NEW, done, module
from tests.invariants.examples import DOUBLE, NOTHING, last_step, violations

ASSIGN = module(overwrite=True)


def test_what_a_conversion_is_about() -> None:
    """Only what belongs to the converted module is asked for."""
    build = Builder(overwrite=True)
    child = build.module({"weight": build.parameter()})
    m = build.module({"weight": build.parameter()}, children={"child": child})
    build.name("m", "module", m)
    build.name("p", "tensor", build.parameter())
    found = violations("identity", build.heap(), Convert("m.child", Cast("float64")))

    assert [one.place for one in found] == ["m.child.weight"]


@pytest.mark.parametrize(
    ("program", "places"),
    [
        ((NameTensor("m.weight", "w"),), ["w"]),
        (
            (TakeWeakref("WeakIdRef", "m.weight", "r"), NameTensor("m.weight", "w")),
            ["r", "w"],
        ),
        ((MakeOptimizer("SGD", "m", "opt"),), ["opt.param_groups[0][0]"]),
        ((NameTensor("p", "w"),), []),
        (
            (
                Forward("scale", "p", "y"),
                TakeWeakref("ReferenceType", "y", "r"),
                Drop("y"),
            ),
            [],
        ),
    ],
)
def test_who_held_the_old_object(program: Program, places: list[str]) -> None:
    """Each observer of a parameter that is assigned anew is told, by its own place."""
    found = violations("observers", ASSIGN, *program, DOUBLE)

    assert sorted(one.place for one in found) == places


def test_ties_that_come_apart_and_those_that_come_about() -> None:
    """Both directions, each told at the second place."""
    heap = done(module(overwrite=True), Tie("m", "tied", "m.weight"))
    (apart,) = violations("ties", heap, DOUBLE)

    assert (apart.place, apart.now) == ("m.tied", "two objects")
    build = Builder(overwrite=True)
    m = build.module({"one": build.parameter(), "other": build.parameter()})
    build.name("m", "module", m)
    build.name("p", "tensor", build.parameter())
    assert violations("ties", build.heap(), Convert("m", Other("p"))) == []


@pytest.mark.parametrize(("action", "broken"), [(DOUBLE, True), (NOTHING, False)])
def test_memory_that_is_shared(action: Convert, broken: bool) -> None:
    """A cast copies; a cast to the same dtype keeps the memory."""
    heap = done(module(), Detach("m.weight", "d"))
    found = violations("aliasing", heap, action)

    assert [one.place for one in found] == ["d"] * broken


@pytest.mark.parametrize(
    ("start", "action", "lost"),
    [
        (module("MyParameter", swap=True, grad=False), DOUBLE, ["class"]),
        (module("MyParameter", grad=False), DOUBLE, []),
        (module(), Convert("m", Wrap("TwoTensor")), []),
        (module("TwoTensor"), Convert("m", Unwrap()), []),
        (module(buffer=True), Convert("m", ToDevice("meta")), []),
        (module(), Convert("m", DetachEach()), []),
    ],
)
def test_what_a_parameter_is(start: Heap, action: Convert, lost: list[str]) -> None:
    """Of a function that gives another class, the class is not asked for."""
    found = violations("parameter-kind", start, action)

    assert [one.was.split(" of ")[0] for one in found] == lost


def test_a_stale_view_is_no_leaf_before_anybody_asks() -> None:
    """That a conversion asks for its node, and so makes it, changes no kind."""
    build = Builder(overwrite=True)
    base = build.tensor()
    w = build.mark(
        build.view(build.share(build.tensor(requires_grad=True), base), base)
    )
    build.name("m", "module", build.module({"weight": w}))
    build.name("t", "tensor", base)
    program = RequiresGrad("t"), Write("t"), Convert("m", ToDevice("meta"))
    step = last_step(build.heap(), program, NEW)

    assert isinstance(step.outcome, Refused)
    assert step.before.meta_of(w).grad_fn is None
    assert step.then.meta_of(w).grad_fn is not None
    assert violations("parameter-kind", build.heap(), *program) == []


def test_nothing_is_promised_of_a_plain_attribute() -> None:
    """It stays as it is, and so does what belongs to it."""
    b = Builder()
    plain = b.tensor((5, 6), requires_grad=True)
    b.gradient(plain, b.tensor((1, 1)))
    m = b.module({"weight": b.parameter()}, attributes={"plain": plain})
    b.name("m", "module", m)
    convert = Convert("m", Cast("float64"))

    for invariant in ("values", "identity", "ties", "observers"):
        assert violations(invariant, b.heap(), convert) == []
