"""Counterexamples that the tests of reports tell, and golden files to compare with."""

import os
from collections.abc import Iterable
from pathlib import Path

from swapmodel.actions import (
    Backward,
    Cast,
    Convert,
    Forward,
    Program,
    RegisterHook,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.invariants.catalogue import invariant
from swapmodel.invariants.violation import Cause, Step, Violation
from swapmodel.outcomes import OutOfScope
from swapmodel.run import Counterexample, find_cause, run
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.read import load_spec
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap

GOLDEN = Path(__file__).parent / "golden"


def wrapper_heap(*, swap: bool = False) -> Heap:
    """A module with a wrapper parameter with gradient and attribute, and a `p`."""
    build = Builder(swap=swap)
    weight = build.parameter(cls="TwoTensor", attributes={"tag": 1})
    build.gradient(weight, build.tensor((1, 1), cls="TwoTensor"))
    build.name("m", "module", build.module({"weight": weight}))
    build.name("p", "tensor", build.parameter((3, 4)))
    return build.heap()


def found(spec: str, name: str, program: Iterable[object]) -> Counterexample:
    """The first violation of an invariant by the last action of a program."""
    return found_in(load_spec(spec), name, tuple(program))  # type: ignore[arg-type]


def found_in(spec: Spec, name: str, program: Program) -> Counterexample:
    """The same, under a spec that is loaded by now."""
    start, known = wrapper_heap(), invariant(name)
    trace = run(start, program, spec)
    last = trace.outcomes[-1]
    assert not isinstance(last, OutOfScope)
    step = Step(trace.heaps[len(program) - 1], program[-1], last, spec)
    violation = next(known.check(step))
    cause = find_cause(step, violation, known)
    return Counterexample(
        spec.id, "example", "wrapper", start, program, violation, cause
    )


def left_behind() -> Counterexample:
    """torch 2.1 casts a wrapper and leaves its inner tensors behind."""
    return found("torch-2.1", "coherence", [Convert("m", Cast("float64"))])


def dead_hook() -> Counterexample:
    """torch 2.13 casts a wrapper and its hook never fires again."""
    cast = Convert("m", Cast("float64"))
    return found("torch-2.13", "hooks", [RegisterHook("m.weight", "h"), cast])


def lost_attribute() -> Counterexample:
    """torch 2.13 loses an attribute in a cast that does nothing."""
    return found("torch-2.13", "attributes", [Convert("m", Cast("float32"))])


def torn() -> Counterexample:
    """torch 2.13 refuses a swap for a C++ weak pointer when the class has moved."""
    weak = TakeWeakref("_WeakTensorRef", "m.weight", "r")
    return found("torch-2.13", "atomic-tensor", [weak, SwapTensors("m.weight", "p")])


def torn_by_view() -> Counterexample:
    """torch 2.3 refuses a viewed tensor when the class has moved."""
    view = View("p", "v")
    return found("torch-2.3", "atomic-tensor", [view, SwapTensors("m.weight", "p")])


def poisoned() -> Counterexample:
    """torch 2.13 poisons the graph of t1 when it refuses t2."""
    program = [
        Forward("scale", "m.weight", "y"),
        View("p", "v"),
        SwapTensors("m.weight", "p"),
    ]
    return found("torch-2.13", "graph", program)


def fatal() -> Counterexample:
    """torch 2.13 reads memory that is not there; no search is needed to show it."""
    program = (SetData("p", "m.weight"), Forward("square", "p", "y"))
    violation = Violation(
        "memory-safe",
        "p",
        "variable",
        "direct",
        "no memory is read that is not there",
        "a null storage is read",
    )
    cause = Cause("memory-safe", "direct", "Forward", "variable")
    start = wrapper_heap()
    return Counterexample(
        "torch-2.13", "example", "wrapper", start, program, violation, cause
    )


CONFIRMED = (dead_hook, lost_attribute, torn, poisoned, fatal)
"""What torch 2.13.0 shows."""

PROGRAMS: tuple[Program, ...] = (
    (RegisterHook("m.weight", "h"), Convert("m", Cast("float64"))),
    (Forward("square", "m.weight", "y"), Backward("y"), View("m.weight", "v")),
    (TakeWeakref("_WeakTensorRef", "p", "r"), SwapTensors("m.weight", "p")),
    (SetData("m.weight", "p"),),
)
"""Programs after which everything can still be asked."""


def assert_golden(name: str, text: str) -> None:
    """Compare with a golden file; `UPDATE_GOLDEN=1` writes it instead."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")

    assert path.read_text(encoding="utf-8") == text
