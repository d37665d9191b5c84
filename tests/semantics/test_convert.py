"""`Module._apply`: the order of things, and the path of each tensor."""

from typing import Any

import pytest

from swapmodel.actions import Cast, Convert, Forward, TakeWeakref
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.events import Converted
from swapmodel.state.heap import Heap
from tests.heaps import NEW, at, done, module, spec, values, with_row

DOUBLE, NOTHING = Convert("m", Cast("float64")), Convert("m", Cast("float32"))


def told(heap: Heap, under: str = NEW, action: Convert = DOUBLE) -> list[Converted]:
    """The tensors that a conversion came to, in order, with their paths."""
    events = step(heap, action, spec(under)).events
    return [one for one in events if isinstance(one, Converted)]


def dtype(heap: Heap, place: str) -> str:
    """The dtype of the tensor at a place."""
    return heap.impl_of(at(heap, place)).dtype


# -- Order -----------------------------------------------------------------------------


def family(*, swap: bool = False, overwrite: bool = False) -> Heap:
    """A module with a child; each has two parameters, a gradient and a buffer."""
    build = Builder(swap=swap, overwrite=overwrite)
    made = []
    children: dict[str, Any] = {}
    for _ in range(2):
        one, other, buffer = build.parameter(), build.parameter(), build.tensor()
        build.gradient(one, build.tensor())
        made.append(
            build.module(
                {"one": one, "none": None, "other": other},
                buffers={"running": buffer, "gone": None},
                children=children,
            )
        )
        children = {"child": made[-1]}
    build.name("m", "module", made[-1])
    return build.heap()


ORDER = [
    "m.child.one",
    "m.child.one.grad",
    "m.child.other",
    "m.child.running",
    "m.one",
    "m.one.grad",
    "m.other",
    "m.running",
]


@pytest.mark.parametrize("flags", [{}, {"swap": True}, {"overwrite": True}], ids=str)
def test_the_order_of_visits(flags: dict[str, bool]) -> None:
    """Children come first, a gradient behind its parameter, buffers at the end."""
    heap = family(**flags)

    assert [one.tensor for one in told(heap)] == [at(heap, place) for place in ORDER]


def test_a_child_that_is_registered_twice() -> None:
    """One parent visits a child once; two parents visit it twice."""
    build = Builder()
    w = build.parameter()
    child = build.module({"weight": w})
    one = build.module(children={"a": child, "b": child})
    other = build.module(children={"c": child})
    build.name("m", "module", build.module(children={"one": one, "other": other}))

    assert [event.tensor for event in told(build.heap())] == [w, w]


def tied(*, overwrite: bool = False, swap: bool = False) -> Heap:
    """A module with one parameter under two names."""
    build = Builder(swap=swap, overwrite=overwrite)
    w = build.parameter()
    build.gradient(w, build.tensor())
    build.name("m", "module", build.module({"one": w, "two": w}))
    return build.heap()


@pytest.mark.parametrize(
    ("flags", "kept"),
    [({}, True), ({"swap": True}, True), ({"overwrite": True}, False)],
    ids=str,
)
def test_a_tie_is_converted_twice(flags: dict[str, bool], kept: bool) -> None:
    """A parameter with two names is visited twice; assigning unties it."""
    heap = tied(**flags)
    then = done(heap, DOUBLE)

    assert len(told(heap)) == 4
    assert (at(then, "m.one") == at(then, "m.two")) == kept
    assert (at(then, "m.one") == at(heap, "m.one")) == kept
    assert {dtype(then, "m.one"), dtype(then, "m.two.grad")} == {"float64"}


def test_a_refusal_keeps_what_was_done() -> None:
    """What came before the refusal is converted, what comes after is not."""
    heap = done(family(swap=True), TakeWeakref("ReferenceType", "m.child.other", "r"))
    outcome = step(heap, DOUBLE, spec(NEW))
    then = outcome.heap  # type: ignore[union-attr]
    converted = [place for place in ORDER if dtype(then, place) == "float64"]

    assert outcome.rule == "swap/no-weakrefs"  # type: ignore[union-attr]
    assert converted == ["m.child.one", "m.child.one.grad"]


# -- Paths -----------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [{}, {"swap": True}, {"overwrite": True}], ids=str)
def test_a_cast_to_the_own_dtype(flags: dict[str, bool]) -> None:
    """A conversion that converts nothing keeps buffers; assigning takes new objects."""
    heap = module(buffer=True, **flags)  # type: ignore[arg-type]
    then = done(heap, NOTHING)
    w, was = then.impl_of(at(then, "m.weight")), heap.impl_of(at(heap, "m.weight"))

    assert at(then, "m.running") == at(heap, "m.running")
    assert w.storage == was.storage
    assert (at(then, "m.weight") == at(heap, "m.weight")) != ("overwrite" in flags)
    assert at(then, "m.weight.grad") == at(heap, "m.weight.grad")


def test_a_buffer_with_two_names() -> None:
    """A buffer that is registered twice becomes two tensors."""
    build = Builder()
    b = build.tensor()
    build.name("m", "module", build.module(buffers={"one": b, "two": b}))
    then = done(build.heap(), DOUBLE)

    assert at(then, "m.one") != at(then, "m.two")
    assert values(then, "m.one") == values(then, "m.two") == (1, 2)


def test_a_graph_that_is_alive() -> None:
    """A cast under the data path goes past a graph, a swap is refused by it."""
    y = Forward("square", "m.weight", "y")

    assert dtype(done(done(module(), y), DOUBLE), "m.weight") == "float64"
    outcome = step(done(module(swap=True), y), DOUBLE, spec(NEW))
    assert outcome.rule == "swap/few-owners"  # type: ignore[union-attr]


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("flags", [{}, {"swap": True}, {"overwrite": True}], ids=str)
def test_requires_grad_is_kept(flags: dict[str, bool], requires_grad: bool) -> None:
    """A frozen parameter stays frozen, another one does not."""
    build = Builder(**flags)
    w = build.parameter(requires_grad=requires_grad)
    build.name("m", "module", build.module({"weight": w}))
    then = done(build.heap(), DOUBLE)

    assert then.meta_of(at(then, "m.weight")).requires_grad == requires_grad


def test_no_local_variable_is_left() -> None:
    """What a conversion held is released when it ends."""
    heap = module(swap=True)
    then = done(heap, DOUBLE)

    assert len([one for one in then.tensors if one]) == len(heap.tensors)
    assert with_row(then, "modules", 0, cls="Module") == then
