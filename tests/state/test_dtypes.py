"""The dtypes and devices of torch are listed, modelled or not."""

import re

import pytest

from swapmodel.actions import Action, CastData, Convert, Write
from swapmodel.conversions import Cast, RaiseAt, To, ToDevice, ToEmpty, Type
from swapmodel.outcomes import OutOfScope, Refused
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.dtypes import (
    ALIASES,
    COMPLEX,
    DIFFERENTIABLE,
    DTYPES,
    FLOATING,
    OTHER_FLOATS,
    OTHER_INTEGERS,
    TORCH_DEVICES,
    TORCH_DTYPES,
)
from tests.heaps import NEW, module, spec


def test_each_once() -> None:
    """No dtype is in two lists, and other names stand for one of them."""
    assert len({*TORCH_DTYPES}) == len(TORCH_DTYPES)
    assert {*ALIASES.values()} <= {*TORCH_DTYPES}
    assert not {*ALIASES} & {*TORCH_DTYPES}


@pytest.mark.torch
def test_torch_has_the_same() -> None:
    """Every dtype, what torch says of it, and every type of device."""
    torch = pytest.importorskip("torch")
    found = {k: v for k, v in vars(torch).items() if isinstance(v, torch.dtype)}
    printed = {str(one).removeprefix("torch."): one for one in found.values()}

    assert {*TORCH_DTYPES} == {*printed}
    assert {k: str(v)[6:] for k, v in found.items() if k not in printed} == ALIASES
    assert {k for k, v in printed.items() if v.is_floating_point or v.is_complex} == {
        *DIFFERENTIABLE,
        *OTHER_FLOATS,
    }
    assert all(printed[one].is_floating_point for one in FLOATING)
    assert all(printed[one].is_complex for one in COMPLEX)
    with pytest.raises(RuntimeError) as raised:
        torch.device("nonsense")
    listed = re.search("one of (.*) device type", str(raised.value))
    assert listed is not None
    assert {*listed[1].split(", ")} == {*TORCH_DEVICES}


@pytest.mark.parametrize(
    "action",
    [
        Convert("m", Cast("float8_e4m3fn")),
        Convert("m", To("complex32")),
        Convert("m", To("nonsense")),
        Convert("m", Type("int8")),
        Convert("m", RaiseAt(2, Type("int8"))),
        Convert("m", ToDevice("cuda:1")),
        Convert("m", ToEmpty("mps")),
        CastData("p", "int8"),
    ],
    ids=repr,
)
def test_what_is_not_modelled_is_declined(action: Action) -> None:
    """With its name, and without an exception."""
    outcome = step(module(), action, spec(NEW))

    assert isinstance(outcome, OutOfScope)
    assert re.fullmatch(r"the (dtype|device) [\w:]+", outcome.why)


@pytest.mark.parametrize("dtype", ["int64", *OTHER_INTEGERS])
def test_to_takes_no_integers(dtype: str) -> None:
    """`Module.to` asks `is_floating_point` alone, of every dtype there is."""
    outcome = step(module(), Convert("m", To(dtype)), spec(NEW))

    assert isinstance(outcome, Refused)
    assert outcome.rule == "convert/dtype"


def test_no_heap_holds_what_is_not_modelled() -> None:
    """A builder refuses it, so that no action meets it."""
    for options in ({"dtype": "int8"}, {"device": "cuda:1"}):
        with pytest.raises(ValueError, match="is modelled"):
            Builder().tensor(**options)  # type: ignore[arg-type]
    for dtype in DTYPES:
        build = Builder()
        build.name("t", "tensor", build.tensor(dtype=dtype))
        step(build.heap(), Write("t"), spec(NEW))
