"""`step`: one action, one outcome, and the heap that it was given stays."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.actions import (
    ACTIONS,
    Action,
    Cast,
    CastData,
    Convert,
    DeepcopyModule,
    Drop,
    Forward,
    MakeOptimizer,
    NameTensor,
    Program,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
    operands,
)
from swapmodel.invariants.of_structure import malformed
from swapmodel.outcomes import Done, Outcome, OutOfScope, Refusal, Refused, Undefined
from swapmodel.semantics.spec import PHASES, Frame, Phase
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.dtypes import DEVICES, DIFFERENTIABLE, DTYPES
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId
from tests.heaps import (
    LATE,
    NEW,
    NO_SWAP,
    STARTS,
    at,
    done,
    module,
    programs,
    refused,
    runs,
    spec,
)
from tests.semantics.examples import EXAMPLES

every_action = pytest.mark.parametrize(
    "action", EXAMPLES, ids=lambda one: type(one).__name__
)


def test_every_kind_of_action_has_an_example() -> None:
    """The tests below know every kind of action."""
    assert {type(one) for one in EXAMPLES} == set(ACTIONS)


@every_action
def test_every_action_does_something(action: Action) -> None:
    """Each kind of action leaves another heap where its operands stand."""
    assert done(with_operands(), action) != with_operands()


def with_operands() -> Heap:
    """A heap in which every operand of the examples stands."""
    heap = done(module(), Forward("scale", "p", "o"), MakeOptimizer("SGD", "m", "s"))
    return done(heap, DeepcopyModule("m", "copy"))


@every_action
def test_an_operand_that_is_not_there(action: Action) -> None:
    """A place where nothing stands is refused under its own name, as Python does."""
    names = [name for name, _ in operands(type(action))]
    for name in names or ["name"] * isinstance(action, Drop):
        absent = attrs.evolve(action, **{name: "nowhere"})  # type: ignore[arg-type]
        outcome = refused(with_operands(), absent)

        assert outcome.refusal == Refusal("place/absent", "nowhere")
        assert outcome.heap == with_operands()


@every_action
def test_an_operand_of_another_kind(action: Action) -> None:
    """`copy.deepcopy(m)` and `p.tag = m` do something: the model declines them."""
    for name, kind in operands(type(action)):
        place = "m" if kind != "module" else "p"
        wrong = attrs.evolve(action, **{name: place})  # type: ignore[arg-type]
        outcome = step(with_operands(), wrong, spec(NEW))

        assert outcome == OutOfScope(f"an operand that is no {kind}")


@pytest.mark.parametrize("place", ["m.gone", "p.grad"])
def test_none_is_an_operand_of_another_kind(place: str) -> None:
    """Python reads it where nothing is registered, or where no gradient is."""
    b = Builder()
    b.name("m", "module", b.module({"gone": None}))
    b.name("p", "tensor", b.parameter())

    outcome = step(b.heap(), NameTensor(place, "n"), spec(NEW))
    assert outcome == OutOfScope("an operand that is no tensor")


@given(
    start=st.sampled_from(STARTS),
    program=programs(),
    under=st.sampled_from((NO_SWAP, LATE, NEW)),
)
def test_the_heap_before_stays(start: Heap, program: Program, under: str) -> None:
    """No step writes the heap it was given; the same step gives the same outcome."""
    frozen = attrs.evolve(start)
    copies = [frozen]
    heaps = runs(start, program, spec(under))
    for heap, action in zip(heaps, program, strict=False):
        outcome = step(heap, action, spec(under))
        assert outcome == step(heap, action, spec(under))
        if isinstance(outcome, OutOfScope):
            break
        copies.append(outcome.heap)
        if isinstance(outcome, Undefined):
            break

    assert heaps[: len(copies)] == copies
    assert hash(start) == hash(frozen)


@given(start=st.sampled_from(STARTS), program=programs(4))
def test_watching_changes_nothing(start: Heap, program: Program) -> None:
    """A watched step comes to the same, and a heap that was shown stays."""
    for heap, action in zip(runs(start, program, spec(NEW)), program, strict=False):
        told, outcome = watched(heap, action)

        assert outcome == step(heap, action, spec(NEW))
        assert all(number == hash(one) for number, one in told)


def watched(heap: Heap, action: Action) -> tuple[list[tuple[int, Heap]], Outcome]:
    """What a watcher is shown, each with its hash at that moment, and the outcome."""
    seen: list[tuple[int, Heap]] = []
    under = spec(NEW)
    outcome = step(heap, action, under, lambda _, one: seen.append((hash(one), one)))
    return seen, outcome


def anything(draw: st.DrawFn) -> Heap:
    """A heap of the usual names over every dtype, device, class and size."""
    build = Builder(swap=draw(st.booleans()), overwrite=draw(st.booleans()))

    def made(cls: str) -> TensorId:
        dtype = draw(st.sampled_from(DTYPES))
        make = build.tensor if cls == "Tensor" else build.parameter
        return make(
            draw(st.sampled_from(((1, 2), (3,), None))),
            cls=draw(st.sampled_from((cls, "TwoTensor"))),
            dtype=dtype,
            device=draw(st.sampled_from(DEVICES)),
            requires_grad=dtype in DIFFERENTIABLE and draw(st.booleans()),
        )

    weight = made("Parameter")
    if draw(st.booleans()):
        build.gradient(weight, made("Tensor"))
    m = build.module({"weight": weight}, buffers={"running": made("Tensor")})
    build.name("m", "module", m)
    build.name("p", "tensor", made("Parameter"))
    build.name("t", "tensor", made("Tensor"))
    return build.heap()


@given(start=st.composite(anything)(), program=programs(dtypes=DTYPES))
def test_every_program_comes_to_something(start: Heap, program: Program) -> None:
    """Whatever the dtypes, devices and sizes, a step gives an outcome and no error."""
    for heap in runs(start, program, spec(NEW)):
        assert list(malformed(heap)) == []


# -- Phases ----------------------------------------------------------------------------


def phases(heap: Heap, action: Action) -> list[str]:
    """The phases that a step tells of."""
    seen: list[str] = []
    step(heap, action, spec(NEW), lambda name, _: seen.append(name))
    return seen


def test_phases_are_told_as_they_end() -> None:
    """A phase that runs an operation is told after the phases of that operation."""
    assert phases(module(), CastData("p", "float64")) == [
        "set_data/compatible-type",
        "set_data/differentiable-dtype",
        "set_data/reset-accumulator",
        "set_data/copy-impl",
    ]
    told = phases(module(swap=True, grad=False), Convert("m", Cast("float64")))
    assert told[0] == "convert_module/children"
    assert told[-1] == "convert_module/buffers"
    inside = [one for one in told if "swap" in one or one.endswith("/convert")]
    assert inside[-3:] == [
        "swap_tensors/move-impl",
        "convert_parameter/swap/swap",
        "convert_parameter/convert",
    ]


def test_an_action_without_phases() -> None:
    """What is no operation of a spec has no phases to tell."""
    assert phases(module(), View("p", "v")) == []


@pytest.mark.parametrize("ended", ["done", "refused"])
def test_nothing_holds_the_draft(monkeypatch: pytest.MonkeyPatch, ended: str) -> None:
    """A phase that keeps the draft cannot write the heap that came of it."""
    leaked: list[tuple[Draft, Any]] = []

    def leak(draft: Draft, frame: Frame) -> Refusal | None:
        leaked.append((draft, draft.edit_tensor(frame.target)))
        return Refusal("test/refused") if ended == "refused" else None

    monkeypatch.setitem(PHASES, ("set_data", "leak"), Phase("leak", leak))
    under = attrs.evolve(spec(NEW), operations=(("set_data", ("copy-impl", "leak")),))
    heap = module()
    outcome = step(heap, SetData("p", "t"), under)
    assert isinstance(outcome, Done | Refused)
    draft, twin = leaked[0]
    told = hash(outcome.heap)

    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        twin.cls = "written"
    for t in range(len(draft.tensors)):
        draft.edit_tensor(t).cls = "written"  # type: ignore[arg-type]
        draft.counters[t] += 1
    draft.unbind("p")
    draft.events.clear()
    assert hash(outcome.heap) == told
    assert outcome.heap.tensor(at(heap, "p")).cls == "Parameter"
    assert heap == module()


# -- Outcomes --------------------------------------------------------------------------


def test_undefined() -> None:
    """Reading a null storage is undefined, and the heap is the one before."""
    heap = done(module("TwoTensor"), SetData("t", "p"))
    outcome = step(heap, Forward("scale", "t", "y"), spec(NEW))

    assert outcome == Undefined(heap, "a null storage is read")


def test_out_of_scope() -> None:
    """Without the operation in the spec there is nothing to say."""
    outcome = step(module(), SwapTensors("p", "t"), spec(NO_SWAP))

    assert outcome == OutOfScope("torch-2.1 has no swap_tensors")


def test_an_absent_place_comes_before_the_spec() -> None:
    """Python looks the operands up before torch is asked."""
    outcome = refused(module(), SwapTensors("p", "nowhere"), NO_SWAP)

    assert outcome.refusal == Refusal("place/absent", "nowhere")


def test_a_refusal_carries_its_events() -> None:
    """What happened before the refusal is told."""
    heap = done(module(swap=True), TakeWeakref("ReferenceType", "m.weight", "r"))
    outcome = refused(heap, Convert("m", Cast("float64")))

    assert len(outcome.events) == 1
