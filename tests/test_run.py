"""Running programs, and naming the phase that is the cause of a violation."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    Convert,
    Forward,
    Program,
    RegisterHook,
    SetAttribute,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.conversions import RaiseAt, ScaleInPlace, ToEmpty
from swapmodel.invariants.catalogue import invariant
from swapmodel.invariants.violation import Cause, Invariant, Step, Violation
from swapmodel.outcomes import Done, OutOfScope, Refused, Undefined
from swapmodel.run import find_cause, phases, run
from swapmodel.semantics.spec import OPERATIONS, PHASES
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import LATE, NEW, NO_SWAP, STARTS, at, done, module, programs, spec
from tests.invariants.examples import DOUBLE, SWAP, Example, last_step, rnn
from tests.invariants.examples_of_contents import CONTENTS
from tests.invariants.examples_of_futures import FUTURES

# -- Running ---------------------------------------------------------------------------


def test_a_program_goes_on_after_a_refusal() -> None:
    """A refused action is one that Python caught; the next one runs."""
    trace = run(module(), (Backward("t"), View("t", "v")), spec(NEW))

    assert [type(one) for one in trace.outcomes] == [Refused, Done]
    assert trace.heaps[-1].names[-1][0] == "v"


def test_a_program_ends_where_torch_would_crash() -> None:
    """Nothing runs behind an undefined action, whose heap is the last one."""
    program = (SetData("t", "p"), Forward("scale", "t", "y"), View("p", "v"))
    trace = run(module("TwoTensor"), program, spec(NEW))

    assert [type(one) for one in trace.outcomes] == [Done, Undefined]
    assert len(trace.heaps) == 3
    assert trace.program == program


def test_a_program_ends_where_the_model_declines() -> None:
    """An action out of scope leaves no heap and ends the program."""
    trace = run(module(), (View("t", "v"), SWAP, View("p", "w")), spec(NO_SWAP))

    assert [type(one) for one in trace.outcomes] == [Done, OutOfScope]
    assert len(trace.heaps) == 2


def test_no_program() -> None:
    """A program of nothing leaves its start."""
    trace = run(module(), (), spec(NEW))

    assert (trace.heaps, trace.outcomes) == ((module(),), ())


@given(start=st.sampled_from(STARTS), program=programs())
def test_a_program_is_its_actions_one_by_one(start: Heap, program: Program) -> None:
    """Each action runs on the heap that the one before it left."""
    trace = run(start, program, spec(NEW))

    assert trace.start == trace.heaps[0] == start
    for heap, action, outcome in zip(
        trace.heaps, program, trace.outcomes, strict=False
    ):
        assert outcome == step(heap, action, spec(NEW))


@pytest.mark.parametrize("swap", [False, True])
def test_phases(swap: bool) -> None:
    """The phases of an action are told with the heap after each."""
    before = module(swap=swap)
    seen = phases(before, DOUBLE, spec(NEW))

    assert seen[-1][0] == "convert_module/buffers"
    assert {name.rpartition("/")[0] for name, _ in seen} <= set(OPERATIONS)
    assert seen[-1][1].names == before.names
    assert phases(before, View("p", "v"), spec(NEW)) == ()


# -- Causes ----------------------------------------------------------------------------


def causes(
    name: str, start: Heap, *program: Action, under: str = NEW
) -> list[tuple[str, str]]:
    """Place and phase of everything that the last action breaks."""
    one, known = last_step(start, program, under), invariant(name)
    return [
        (found.place, find_cause(one, found, known).phase) for found in known.check(one)
    ]


def test_a_torn_swap() -> None:
    """In release 2.3 the class has moved when the owners are counted."""
    assert causes("atomic-tensor", module(), View("p", "v"), SWAP, under=LATE) == [
        ("p", "swap_tensors/move-class"),
        ("t", "swap_tensors/move-class"),
    ]


def test_torn_attributes() -> None:
    """What lies in the dict is torn by the move of the dict."""
    start = done(module(), SetAttribute("p", "tag"), View("p", "v"))
    found = causes("atomic-tensor", start, SWAP, under=LATE)

    assert ("p", "swap_tensors/move-attributes") in found


def test_dead_hooks() -> None:
    """Hooks are parted from what fires them by the move of the impl."""
    start = module(swap=True)

    assert causes("hooks", start, RegisterHook("m.weight", "h"), DOUBLE) == [
        ("m.weight", "swap_tensors/move-impl")
    ]


def test_a_poison() -> None:
    """A graph is poisoned by the check of the owners."""
    start = done(module(), Forward("scale", "p", "y"), View("t", "v"))

    assert causes("graph", start, SWAP) == [("p", "swap_tensors/few-owners")]


def test_a_wrong_gradient() -> None:
    """A saved tensor reads other data once the impl is copied."""
    start = done(module(), Forward("square", "p", "y"))

    assert causes("graph", start, SetData("p", "t")) == [("p", "set_data/copy-impl")]


def test_a_promise_that_is_never_fulfilled() -> None:
    """What no phase made true is booked on the last one that wrote the tensor."""
    assert causes("values", module("TwoTensor"), DOUBLE, under=NO_SWAP) == [
        ("m.weight", "set_data/copy-impl"),
        ("m.weight.grad", "set_data/copy-impl"),
    ]


def test_a_write_that_changes_nothing() -> None:
    """The phase that wrote the same again answers for what it left undone."""
    emptied = Convert("m", ToEmpty("cpu"))

    assert causes("values", module("TwoTensor"), emptied, under=NO_SWAP) == [
        ("m.weight", "set_data/copy-impl"),
        ("m.weight.grad", "set_data/copy-impl"),
    ]


def test_the_gradient_of_a_buffer() -> None:
    """A gradient that no conversion comes to is booked on that of its tensor."""
    build = Builder()
    b = build.tensor()
    build.gradient(b, build.tensor())
    registered = build.module({"weight": build.parameter()}, buffers={"running": b})
    build.name("m", "module", registered)
    one = last_step(build.heap(), (Convert("m", ScaleInPlace()),), NEW)
    (found,) = invariant("values").check(one)

    assert found.place == "m.running.grad"
    assert find_cause(one, found, invariant("values")) == Cause(
        "values", "replace", "call_fn/call", "gradient"
    )


def wider(one: Step) -> Iterator[Violation]:
    """Break at a tensor that no conversion comes to, once the parameter is cast."""
    if one.then.impl_of(at(one.then, "m.weight")).dtype == "float64":
        yield Violation("wider", "p", "variable", one.path("p"), "float32", "float64")


def test_the_path_under_way() -> None:
    """What no conversion comes to is booked on the one that broke it."""
    build = Builder()
    registered = {"weight": build.parameter()}
    m = build.module(registered, buffers={"running": build.tensor()})
    build.name("m", "module", m)
    build.name("p", "tensor", build.parameter())
    one = last_step(build.heap(), (DOUBLE,), NEW)
    (found,) = wider(one)

    assert found.path == "replace"
    assert find_cause(one, found, Invariant("wider", "step", wider)) == Cause(
        "wider", "data", "set_data/copy-impl", "variable"
    )


def test_weak_references_of_an_rnn() -> None:
    """What shows after the first phase is booked on it, whatever is written later."""
    fails = Convert("m", RaiseAt(2, Cast("float64")))

    assert causes("weakrefs", rnn(overwrite=True), fails)[0] == (
        "m._flat_weight_refs[0]",
        "convert_rnn/suspend-weakrefs",
    )


def always(one: Step) -> Iterator[Violation]:
    """Break whatever happens, in the same way each time."""
    yield Violation("always", "p", "variable", "direct", "something", "nothing")


def test_a_tensor_that_nothing_wrote() -> None:
    """Where no phase wrote the tensor at all, the last phase answers for it."""
    one = last_step(module(), (SetData("t", "m.weight"),), NEW)
    (violation,) = always(one)
    cause = find_cause(one, violation, Invariant("always", "step", always))

    assert cause == Cause("always", "direct", "set_data/copy-impl", "variable")


def test_an_action_without_phases() -> None:
    """What is no operation of a spec counts as one phase of its own."""
    one = last_step(module(), (View("p", "v"),), NEW)
    (violation,) = always(one)

    assert find_cause(one, violation, Invariant("always", "step", always)) == Cause(
        "always", "direct", "View", "variable"
    )


def test_a_lost_gradient() -> None:
    """A gradient is gone from the phase on that takes it off its parameter."""
    start = done(module(swap=True), TakeWeakref("ReferenceType", "m.weight.grad", "r"))

    assert ("m.weight.grad", "convert_parameter/swap/clear-gradient") in causes(
        "atomic-module", start, DOUBLE
    )


@pytest.mark.parametrize(
    "example", [one for one in (*CONTENTS, *FUTURES) if one.shown], ids=str
)
def test_every_cause_is_a_phase(example: Example) -> None:
    """What an example breaks is the cause of a phase, or of an action that has none."""
    one = last_step(example.start, example.program, example.under)
    known = invariant(example.invariant)
    for found in known.check(one):
        cause = find_cause(one, found, known)
        operation, _, name = cause.phase.rpartition("/")
        whole = type(one.action).__name__
        assert (operation, name) in PHASES or cause.phase == whole
        assert (cause.invariant, cause.path, cause.kind) == (
            found.invariant,
            found.path,
            found.kind,
        )


def test_swapped_operands_have_one_cause() -> None:
    """Which operand is torn does not make another cause."""
    start = done(module(), View("t", "v"))
    one, known = last_step(start, (SwapTensors("p", "t"),), LATE), "atomic-tensor"
    found = list(invariant(known).check(one))

    assert len({find_cause(one, two, invariant(known)) for two in found}) == 1
    assert len(found) > 1
