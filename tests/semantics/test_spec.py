"""Specs: names meet functions, and phases run in the order of the spec."""

from typing import Any, get_type_hints

import pytest

from swapmodel.outcomes import Crash, Refusal, Stop, Unmodelled
from swapmodel.semantics import spec as chapter
from swapmodel.semantics.spec import (
    HANDLERS,
    OPERATIONS,
    PHASES,
    PREDICATES,
    Frame,
    Handler,
    Operation,
    Phase,
    Row,
    Spec,
)
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId

REFUSAL = Refusal("test/refused")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Register the operation `probe` with phases and handlers that note their runs."""
    notes: list[str] = []

    def phase(name: str, stop: Stop | None = None) -> None:
        def run(draft: Draft, frame: Frame) -> Stop | None:
            notes.append(name)
            draft.bind(name, "tensor", 0)
            return stop

        monkeypatch.setitem(PHASES, ("probe", name), Phase(name, run))

    def handler(name: str, raised: Refusal | None) -> None:
        def run(draft: Draft, frame: Frame, refusal: Refusal) -> Refusal | None:
            assert refusal == REFUSAL
            notes.append(name)
            return raised

        monkeypatch.setitem(HANDLERS, ("probe", name), Handler(run))

    monkeypatch.setitem(OPERATIONS, "probe", Operation("probe", ()))
    phase("first")
    phase("second")
    phase("refuses", REFUSAL)
    phase("crashes", Crash("gone"))
    phase("declines", Unmodelled("unknown"))
    handler("tidies", None)
    handler("raises", Refusal("test/raised"))
    for name, answer in (("yes", True), ("no", False)):

        def ask(draft: Draft, frame: Frame, answer: bool = answer) -> bool:
            return answer

        monkeypatch.setitem(PREDICATES, ("choice", name), ask)
    return notes


def run(phases: str, refused: str = "", watch: Any = None) -> Stop | None:
    """Run `probe` made of these phases, with these handlers."""
    spec = Spec(
        id="test",
        operations=(("probe", tuple(phases.split())),),
        refused=(("probe", tuple(refused.split())),),
    )
    return chapter.run(Draft(Heap(), watch), Frame(spec), "probe")


@pytest.mark.parametrize("order", ["first second", "second first", "second", ""])
def test_phases_run_in_the_order_of_the_spec(ran: list[str], order: str) -> None:
    """A spec orders and drops phases, with no Python touched."""
    assert run(order) is None
    assert order.split() == ran


@pytest.mark.parametrize("stop", ["refuses", "crashes", "declines"])
def test_a_stop_ends_the_operation(ran: list[str], stop: str) -> None:
    """What stops an operation is its answer, and no later phase runs."""
    answer = run(f"first {stop} second")

    assert ran == ["first", stop]
    assert answer is not None


def test_handlers_run_in_order(ran: list[str]) -> None:
    """A refused operation runs its handlers until one raises; that is its answer."""
    assert run("refuses", "tidies raises tidies") == Refusal("test/raised")
    assert ran == ["refuses", "tidies", "raises"]


def test_handlers_that_raise_nothing(ran: list[str]) -> None:
    """The refusal goes on as it was when no handler raises."""
    assert run("refuses", "tidies") == REFUSAL


@pytest.mark.parametrize("stop", ["crashes", "declines"])
def test_only_a_refusal_is_handled(ran: list[str], stop: str) -> None:
    """A crash is no exception: nothing can be done about it."""
    run(stop, "tidies raises")

    assert ran == [stop]


def test_watching(ran: list[str]) -> None:
    """Each phase and each handler is told, with the heap after it."""
    seen: list[tuple[str, list[str]]] = []

    def watch(name: str, heap: Heap) -> None:
        seen.append((name, [held[0] for held in heap.names]))

    run("first refuses second", "tidies", watch)

    assert seen == [
        ("probe/first", ["first"]),
        ("probe/refuses", ["first", "refuses"]),
        ("probe/refused", ["first", "refuses"]),
    ]


@pytest.mark.parametrize(
    ("rows", "path"),
    [
        ([Row("swap", ("yes",)), Row("data")], "swap"),
        ([Row("swap", ("no",)), Row("data")], "data"),
        ([Row("swap", ("yes", "no")), Row("data", ("yes",)), Row("assign")], "data"),
        ([Row("assign"), Row("swap", ("yes",))], "assign"),
    ],
)
def test_the_first_row_that_applies(ran: list[str], rows: list[Row], path: str) -> None:
    """A choice takes the path of the first row whose predicates all hold."""
    spec = Spec(id="test", operations=(), choices=(("choice", tuple(rows)),))

    assert path == spec.path("choice", Draft(Heap()), Frame(spec))


def test_no_row_applies(ran: list[str]) -> None:
    """A choice that leaves something open is an error of the spec."""
    rows = (Row("swap", ("no",)),)
    spec = Spec(id="test", operations=(), choices=(("choice", rows),))

    with pytest.raises(AssertionError, match="no row of choice applies"):
        spec.path("choice", Draft(Heap()), Frame(spec))


def test_having_an_operation(ran: list[str]) -> None:
    """A spec has the operations that it lists, one without phases as well."""
    spec = Spec(id="test", operations=(("probe", ()),))

    assert spec.has("probe")
    assert not spec.has("swap_tensors")


def test_a_phase_belongs_to_a_declared_operation() -> None:
    """A phase of an operation that nobody declared is an error of the model."""
    with pytest.raises(AssertionError, match="no_such_operation"):
        chapter.phase("name", "no_such_operation")(lambda draft, frame: None)


def test_registering(ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each decorator gives its function back and registers it for every name."""
    for table in ("PHASES", "HANDLERS", "PREDICATES"):
        monkeypatch.setattr(chapter, table, {})

    one: Any = object()

    made = (
        chapter.phase("one", "probe", "swap_tensors", reads=("t1",))(one),
        chapter.when_refused("one", "probe", "swap_tensors")(one),
        chapter.predicate("one", "probe", "parameter")(one),
    )

    assert made == (one, one, one)
    assert list(chapter.PHASES) == [("probe", "one"), ("swap_tensors", "one")]
    assert chapter.PHASES["probe", "one"] == Phase("one", one, ("t1",))
    assert list(chapter.HANDLERS) == [("probe", "one"), ("swap_tensors", "one")]
    assert list(chapter.PREDICATES) == [("probe", "one"), ("parameter", "one")]


def test_local_variables_keep_their_tensors() -> None:
    """Every local variable that holds a tensor keeps it alive."""
    hints = get_type_hints(Frame)
    holding = [one for one in hints if hints[one] in (TensorId, TensorId | None)]
    frame = Frame(Spec(id="test", operations=()))
    for number, name in enumerate(holding):
        setattr(frame, name, number)

    assert set(hints) == set(Frame.__slots__)
    assert set(frame.tensors()) == set(range(len(holding)))


def test_local_variables_that_hold_nothing() -> None:
    """A variable that is not set, or is `None`, keeps nothing alive."""
    frame = Frame(Spec(id="test", operations=()))
    frame.t1, frame.gradient = TensorId(0), None

    assert frame.tensors() == [0]
