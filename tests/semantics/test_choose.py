"""The choice of a path: by release, class of the result, and flags."""

import pytest

from swapmodel.actions import Cast, Convert, SetAttribute
from swapmodel.conversions import ByRole, Identity, Other
from swapmodel.outcomes import OutOfScope
from swapmodel.semantics import methods
from swapmodel.semantics.choose import TRACEABLE, is_traceable_wrapper_subclass
from swapmodel.semantics.spec import Frame
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.events import Converted
from swapmodel.state.heap import Heap
from tests.heaps import LATE, NEW, NO_SWAP, at, done, module, spec

DOUBLE = Convert("m", Cast("float64"))


def told(heap: Heap, under: str) -> list[Converted]:
    """The tensors that a conversion came to, in order, with their paths."""
    events = step(heap, DOUBLE, spec(under)).events
    return [one for one in events if isinstance(one, Converted)]


PATHS: list[tuple[str, str, dict[str, bool], str, str]] = [
    (NO_SWAP, "Parameter", {}, "data", "data"),
    (NO_SWAP, "Parameter", {"swap": True}, "data", "data"),
    (NO_SWAP, "Parameter", {"overwrite": True}, "assign", "assign"),
    (NO_SWAP, "TwoTensor", {}, "data", "data"),
    (LATE, "Parameter", {}, "data", "data"),
    (LATE, "Parameter", {"swap": True}, "swap", "swap"),
    (LATE, "Parameter", {"overwrite": True}, "assign", "assign"),
    (LATE, "Parameter", {"swap": True, "overwrite": True}, "swap", "swap"),
    (LATE, "TwoTensor", {}, "swap", "swap"),
    (LATE, "TwoTensor", {"overwrite": True}, "swap", "swap"),
    (NEW, "Parameter", {}, "data", "data"),
    (NEW, "Parameter", {"swap": True, "overwrite": True}, "swap", "swap"),
    (NEW, "TwoTensor", {}, "swap", "swap"),
]


@pytest.mark.parametrize(("under", "cls", "flags", "parameter", "gradient"), PATHS)
def test_paths(
    under: str, cls: str, flags: dict[str, bool], parameter: str, gradient: str
) -> None:
    """The release, the class of the result and the flags choose the path."""
    heap = module(cls, buffer=True, **flags)

    assert [(one.role, one.path) for one in told(heap, under)] == [
        ("parameter", parameter),
        ("gradient", gradient),
        ("buffer", "replace"),
    ]


@pytest.mark.parametrize(("under", "cls", "flags", "parameter", "gradient"), PATHS)
def test_what_each_path_leaves(
    under: str, cls: str, flags: dict[str, bool], parameter: str, gradient: str
) -> None:
    """Every path casts parameter and gradient; only assigning makes new objects."""
    heap = module(cls, buffer=True, **flags)
    then = done(heap, DOUBLE, under=under)

    for place in ("m.weight", "m.weight.grad", "m.running"):
        assert then.impl_of(at(then, place)).dtype == "float64"
    assert (at(then, "m.weight") == at(heap, "m.weight")) == (parameter != "assign")
    assert (at(then, "m.weight.grad") == at(heap, "m.weight.grad")) == (
        gradient != "assign"
    )
    assert at(then, "m.running") != at(heap, "m.running")
    assert then.meta_of(at(then, "m.weight")).requires_grad


# -- FakeTensor ------------------------------------------------------------------------


def fakes(param: str, applied: str) -> tuple[Draft, dict[str, Frame]]:
    """A frame under each release, for a tensor and a result of these classes."""
    build = Builder()
    t, u = build.tensor(cls=param), build.tensor(cls=applied)
    draft, frames = Draft(build.heap()), {}
    for under in ("torch-2.1", "torch-2.4", "torch-2.8", "torch-2.13"):
        frames[under] = frame = Frame(spec(under))
        frame.param, frame.applied, frame.path = t, u, "data"
        frame.gradient, frame.gradient_applied = t, u
    return draft, frames


FAKES = [
    ("Tensor", "FakeTensor", ["data", "data", "data", "assign"]),
    ("FakeTensor", "FakeTensor", ["data", "data", "swap", "swap"]),
    ("FakeTensor", "Tensor", ["data", "data", "swap", "swap"]),
]


@pytest.mark.parametrize(("param", "applied", "paths"), FAKES)
def test_fakes(param: str, applied: str, paths: list[str]) -> None:
    """From 2.8 on a FakeTensor swaps; from 2.11 on a result that is one is assigned."""
    draft, frames = fakes(param, applied)
    found = [one.spec.path("parameter", draft, one) for one in frames.values()]

    assert found == paths


@pytest.mark.parametrize(
    ("under", "parameter"), [(LATE, "data"), ("torch-2.8", "swap"), (NEW, "swap")]
)
def test_a_program_tells_the_path_and_no_more(under: str, parameter: str) -> None:
    """What a FakeTensor comes to is declined once its path is chosen."""
    outcome = step(module("FakeTensor"), DOUBLE, spec(under))

    assert outcome == OutOfScope(methods.FAKE.why)
    assert [(one.role, one.path) for one in told(module("FakeTensor"), under)] == [
        ("parameter", parameter)
    ]


@pytest.mark.parametrize(("under", "path"), [(LATE, "data"), (NEW, "assign")])
def test_a_fake_result_of_a_plain_parameter(under: str, path: str) -> None:
    """From 2.11 on it is assigned; the gradient has a path of its own."""
    b = Builder()
    weight = b.parameter()
    b.gradient(weight, b.tensor())
    b.name("m", "module", b.module({"weight": weight}))
    b.name("f", "tensor", b.tensor(cls="FakeTensor"))
    for fn, role in (
        (Other("f"), "parameter"),
        (ByRole(Identity(), Other("f")), "gradient"),
    ):
        outcome = step(b.heap(), Convert("m", fn), spec(under))

        assert outcome == OutOfScope(methods.FAKE.why)
        last = outcome.events[-1]
        assert isinstance(last, Converted)
        assert (last.role, last.path) == (role, path)


def test_a_fake_buffer() -> None:
    """It is replaced, and by what is not told."""
    b = Builder()
    running = b.tensor(cls="FakeTensor")
    b.name("m", "module", b.module(buffers={"running": running}))
    outcome = step(b.heap(), DOUBLE, spec(NEW))

    assert outcome == OutOfScope(methods.FAKE.why)
    assert outcome.events == (Converted(running, "buffer", "replace"),)


@pytest.mark.parametrize("applied", ["FakeTensor", "Tensor"])
def test_a_gradient_that_is_fake(applied: str) -> None:
    """A gradient never swaps for being fake, and is assigned when its result is."""
    draft, frames = fakes("FakeTensor", applied)
    found = [one.spec.path("gradient", draft, one) for one in frames.values()]

    last = "assign" if applied == "FakeTensor" else "data"
    assert found == ["data", "data", "data", last]


def test_a_gradient_has_a_path_of_its_own() -> None:
    """On `meta` a wrapper and a plain tensor differ; each is asked for itself."""
    b = Builder()
    weight = b.parameter(device="meta")
    b.gradient(weight, b.tensor(cls="TwoTensor", device="meta"))
    b.name("m", "module", b.module({"weight": weight}))

    assert [(one.role, one.path) for one in told(b.heap(), NEW)] == [
        ("parameter", "data"),
        ("gradient", "data"),
    ]


def test_a_tensor_that_is_traceable_by_itself() -> None:
    """Two attributes of a parameter do what two methods of its class do."""
    same = Convert("m", Identity())
    heap = done(module(), SetAttribute("m.weight", TRACEABLE[0]))
    outcome = step(heap, same, spec(NEW))
    assert Converted(at(heap, "m.weight"), "parameter", "data") in outcome.events
    heap = done(heap, SetAttribute("m.weight", TRACEABLE[1]))
    outcome = step(heap, same, spec(NEW))
    assert Converted(at(heap, "m.weight"), "parameter", "swap") in outcome.events
    b = Builder()
    t = b.tensor(attributes=dict.fromkeys(TRACEABLE, 1))
    assert not is_traceable_wrapper_subclass(b.heap(), t)
