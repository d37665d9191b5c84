"""Programs run in both worlds, and what differs is found and shortened."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.actions import (  # noqa: E402
    Backward,
    Cast,
    CastData,
    Convert,
    Drop,
    Forward,
    Program,
    RegisterHook,
    SetAttribute,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.conformance.lockstep import (  # noqa: E402
    compare,
    compare_last,
    shrink,
)
from swapmodel.conformance.predicted import predicted  # noqa: E402
from swapmodel.conformance.undefined import end_of  # noqa: E402
from swapmodel.outcomes import Done, Refused  # noqa: E402
from swapmodel.semantics.step import step  # noqa: E402
from tests.heaps import LATE, NEW, done, module, spec  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:The .grad attribute"),
]

PROGRAMS: dict[str, Program] = {
    "a cast with a live graph": (
        Forward("scale", "m.weight", "y"),
        Convert("m", Cast("float64")),
        Backward("y"),
        Drop("y"),
        Forward("square", "m.weight", "y"),
        Backward("y"),
    ),
    "hooks and attributes across a cast": (
        RegisterHook("m.weight", "h"),
        SetAttribute("m.weight", "tag", 2),
        Convert("m", Cast("float64")),
        RegisterHook("m.weight", "k"),
        Forward("scale", "m.weight", "y"),
        Backward("y"),
    ),
    "a swap torn by a weak pointer": (
        TakeWeakref("_WeakTensorRef", "t", "r"),
        SwapTensors("m.weight", "t"),
        Drop("r"),
        SwapTensors("m.weight", "t"),
    ),
    "views and data": (
        View("m.weight", "v"),
        SetData("m.weight", "t"),
        CastData("m.weight", "float64"),
        Forward("square", "v", "y"),
        Backward("y"),
        Convert("m", Cast("float32")),
    ),
    "what the lockstep found": (
        Backward("m.weight"),
        CastData("m.weight", "float64"),
        Forward("square", "m.weight", "y"),
        Convert("m", Cast("float64")),
        TakeWeakref("ReferenceType", "m.weight", "r"),
        TakeWeakref("ReferenceType", "m.weight", "s"),
        Backward("y"),
    ),
}


@pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_torch_does_what_the_model_says(name: str, swap: bool, cls: str) -> None:
    """Nothing that Python can see differs after any action."""
    start = module(cls, swap=swap)

    assert compare(start, PROGRAMS[name], spec(NEW)).divergence is None


def test_the_wrong_spec_diverges() -> None:
    """2.3 asks for owners after class and dict have moved, this torch before."""
    program = (View("t", "v"), SwapTensors("p", "t"))
    found = compare(module(), program, spec(LATE)).divergence

    assert found is not None
    assert found.program == program
    assert "p.class" in found.differing


def test_a_divergence_is_shortened() -> None:
    """What is not needed to show it is left out."""
    needed = (View("t", "v"), SwapTensors("p", "t"))
    program = (SetAttribute("p", "tag"), needed[0], Backward("p"), needed[1], Drop("v"))
    found = compare(module(), program, spec(LATE)).divergence
    assert found is not None

    assert shrink(found, spec(LATE)).program == needed


def test_the_last_action_alone_can_be_looked_at() -> None:
    """The world is the same, whether it was looked at on the way or not."""
    start, program = module(), PROGRAMS["what the lockstep found"][:4]
    heap = done(start, *program[:-1])
    outcome = step(heap, program[-1], spec(NEW))
    assert isinstance(outcome, Done | Refused)
    promised = predicted(outcome, spec(NEW))

    assert compare_last(start, program, promised) is None


def test_what_is_undefined_kills_a_child() -> None:
    """Reading a null storage ends a process; this one goes on."""
    null = SetData("t", "p")
    start = module("TwoTensor")

    assert end_of(start, (null, Forward("scale", "t", "y"))) == "died"
    assert end_of(start, (null, CastData("t", "float16"))) == "not allocated"
    assert end_of(start, (null, View("t", "v"))) == "went on"
    assert end_of(start, (null, SwapTensors("t", "nothing"))) == "raised"
