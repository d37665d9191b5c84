"""How a conversion calls its function: how often, in which mode, and what it takes."""

import pytest

from swapmodel.actions import Backward, Convert
from swapmodel.conversions import (
    ByRole,
    Cast,
    ConversionFn,
    Identity,
    NoTensor,
    RaiseAt,
    ScaleInPlace,
    ToDevice,
    ToEmpty,
    Type,
    Unwrap,
)
from swapmodel.outcomes import Refusal, Refused
from swapmodel.semantics.places import resolve
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import LATE, NEW, NO_SWAP, at, done, module, refused, spec, values

FLAGS = [{}, {"swap": True}, {"overwrite": True}]
RAISED = Refusal("function/raised", facts=(("number", 2),))


def family() -> Heap:
    """A module with a child; each has one parameter and no gradient."""
    build = Builder()
    child = build.module({"weight": build.parameter((3, 4))})
    m = build.module({"weight": build.parameter((1, 2))}, children={"child": child})
    build.name("m", "module", m)
    return build.heap()


def test_calls_are_counted_over_children() -> None:
    """One count serves a conversion, and the next conversion starts again."""
    fn = Convert("m", RaiseAt(2, Cast("float64")))
    outcome = refused(family(), fn)
    again = refused(outcome.heap, fn)

    assert outcome.refusal == again.refusal == RAISED
    dtypes = [
        outcome.heap.impl_of(at(outcome.heap, place)).dtype
        for place in ("m.child.weight", "m.weight")
    ]
    assert dtypes == ["float64", "float32"]


@pytest.mark.parametrize("under", [NO_SWAP, LATE, NEW])
@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_no_tensor(flags: dict[str, bool], under: str) -> None:
    """A function that gives no tensor is refused before anything is touched."""
    heap = module(**flags)  # type: ignore[arg-type]
    outcome = refused(heap, Convert("m", NoTensor()), under)

    assert outcome.refusal == Refusal("convert/no-tensor")
    assert outcome.heap == heap


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_no_tensor_for_a_gradient(flags: dict[str, bool]) -> None:
    """For a gradient it is refused too, when the parameter is converted already."""
    heap = module(**flags)  # type: ignore[arg-type]
    outcome = refused(heap, Convert("m", ByRole(Cast("float64"), NoTensor())))

    assert outcome.refusal == Refusal("convert/no-tensor")
    then = outcome.heap
    assert then.impl_of(at(then, "m.weight")).dtype == "float64"
    assert (then.grad_of(at(then, "m.weight")) is None) == bool(flags)


def test_no_tensor_for_a_buffer() -> None:
    """A buffer takes what it gets."""
    heap = module(buffer=True, grad=False)
    fn = ByRole(Identity(), NoTensor())
    then, after = done(heap, Convert("m", Identity())), done(heap, Convert("m", fn))

    assert resolve(then, "m.running") == ("tensor", at(heap, "m.running"))
    assert resolve(after, "m.running") is None


@pytest.mark.parametrize("under", [NO_SWAP, LATE, NEW])
def test_the_hint_to_empty(under: str) -> None:
    """From 2.3 on `m.to(device)` names `to_empty`; a function is not told."""
    build = Builder()
    weight = build.parameter(None, device="meta")
    build.name("m", "module", build.module({"weight": weight}))
    heap = build.heap()
    hint = () if under == NO_SWAP else (Refusal("convert/hint-to-empty"),)
    method = refused(heap, Convert("m", ToDevice("cpu")), under)
    function = refused(heap, Convert("m", RaiseAt(9, ToDevice("cpu"))), under)

    assert method.refusal == Refusal("device/no-data", within=hint)
    assert function.refusal == Refusal("device/no-data")


# -- On every path ---------------------------------------------------------------------


@pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])
@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_a_write_in_place_is_counted(flags: dict[str, bool], cls: str) -> None:
    """On every path a write in place bumps the version of what was converted."""
    heap = module(cls, **flags)
    then = done(heap, Convert("m", ScaleInPlace()))

    assert then.version(then.impl_of(at(then, "m.weight")).counter) == 1
    if cls == "Parameter":
        assert values(then, "m.weight") == (3, 6)
        assert values(then, "m.weight.grad") == (3, 3)


INTEGERS = [
    ({}, "Parameter", "set-data/differentiable-dtype", ()),
    ({"overwrite": True}, "Parameter", "parameter/differentiable-dtype", ()),
    ({"swap": True}, "Parameter", "parameter/differentiable-dtype", ("swap",)),
    ({}, "TwoTensor", "requires-grad/dtype", ("swap",)),
]


@pytest.mark.parametrize(("flags", "cls", "rule", "within"), INTEGERS)
def test_integers_that_require_a_gradient(
    flags: dict[str, bool], cls: str, rule: str, within: tuple[str, ...]
) -> None:
    """Each path has its own refusal of integers, and leaves the parameter alone."""
    heap = module(cls, **flags)
    outcome = refused(heap, Convert("m", Type("int64")))

    assert outcome.rule == rule
    assert len(outcome.refusal.within) == len(within)
    assert outcome.heap.tensor(at(heap, "m.weight")) == heap.tensor(
        at(heap, "m.weight")
    )
    assert outcome.heap.grad_of(at(heap, "m.weight")) == heap.grad_of(
        at(heap, "m.weight")
    )


UNFIT: list[tuple[dict[str, bool], ConversionFn, str]] = [
    ({"swap": True}, Type("int64"), "grad/dtype"),
    ({"overwrite": True}, Type("int64"), "grad/dtype"),
    ({"swap": True}, ToDevice("meta"), "grad/device"),
    ({"overwrite": True}, ToDevice("meta"), "grad/device"),
    ({}, ToDevice("meta"), "grad/device"),
]


@pytest.mark.parametrize(("flags", "fn", "rule"), UNFIT, ids=str)
def test_a_gradient_that_does_not_fit(
    flags: dict[str, bool], fn: ConversionFn, rule: str
) -> None:
    """A gradient that is converted otherwise than its parameter is not attached."""
    heap = module(**flags)  # type: ignore[arg-type]
    outcome = refused(heap, Convert("m", ByRole(Identity(), fn)))  # type: ignore[arg-type]
    then = outcome.heap
    kept = then.grad_of(at(then, "m.weight")) is not None

    assert outcome.rule == rule
    assert kept == (not flags)


def test_a_gradient_that_takes_other_data() -> None:
    """Under `.data` nobody asks whether a gradient fits its parameter."""
    then = done(module(), Convert("m", ByRole(Identity(), Type("int64"))))

    assert then.impl_of(at(then, "m.weight.grad")).dtype == "int64"


@pytest.mark.parametrize(("under", "text"), [(LATE, ""), (NEW, "must not be None")])
def test_a_gradient_without_its_parameter(under: str, text: str) -> None:
    """A new parameter has no gradient whose data could be set."""
    fn = ByRole(ToEmpty("meta"), Identity())
    outcome = refused(module(), Convert("m", fn), under)

    assert outcome.refusal == Refusal("convert/no-gradient")
    assert outcome.heap.impl_of(at(outcome.heap, "m.weight")).device == "meta"
    assert dict(spec(under).messages)["convert/no-gradient"].endswith(text)


def test_plain_data_under_a_wrapper() -> None:
    """A function that unwraps takes `.data`: the class stays, inner tensors too."""
    heap = module("TwoTensor", grad=False)
    then = done(heap, Convert("m", Unwrap()))
    w = then.tensor(at(then, "m.weight"))

    assert w.cls == "TwoTensor"
    assert w.inner == heap.tensor(at(heap, "m.weight")).inner
    assert then.impl(w.impl).storage is not None


# -- Grad mode -------------------------------------------------------------------------


def graded_buffer() -> Heap:
    """A module with one buffer that requires a gradient, `b` beside it."""
    build = Builder()
    b = build.tensor(requires_grad=True)
    build.name("m", "module", build.module(buffers={"running": b}))
    build.name("b", "tensor", b)
    return build.heap()


def test_a_buffer_is_converted_in_grad_mode() -> None:
    """A buffer that requires a gradient comes out of a cast as a computed tensor."""
    then = done(graded_buffer(), Convert("m", Cast("float64")), Backward("m.running"))
    again = done(then, Backward("m.running"))

    assert then.impl_of(at(then, "b.grad")).dtype == "float32"
    assert values(then, "b.grad") == (1, 1)
    assert values(again, "b.grad") == (2, 2)


def test_a_buffer_cannot_be_written() -> None:
    """In grad mode a leaf that requires a gradient is not written in place."""
    outcome = refused(graded_buffer(), Convert("m", ScaleInPlace()))

    assert outcome.refusal == Refusal("write/leaf")


def test_no_gradient_comes_back_from_meta() -> None:
    """A gradient on `meta` cannot be sent to a buffer elsewhere."""
    heap = done(graded_buffer(), Convert("m", ToDevice("meta")))
    outcome = step(heap, Backward("m.running"), spec(NEW))

    assert isinstance(outcome, Refused)
    assert outcome.refusal == Refusal("device/no-data")
