"""Names that are taken in every module and in every tensor, by torch itself."""

import pytest

from swapmodel.actions import (
    Action,
    Convert,
    Register,
    SetAttribute,
    SetData,
    Tie,
    Unregister,
    Write,
)
from swapmodel.conversions import Unwrap
from swapmodel.outcomes import Done, OutOfScope, Refused
from swapmodel.semantics.step import step
from swapmodel.specfiles.texts import text_of
from swapmodel.state.build import Builder
from tests.heaps import NEW, done, module, spec

DECLINED: tuple[Action, ...] = (
    *(SetAttribute("p", key) for key in ("grad", "data", "__class__", "requires_grad")),
    *(SetAttribute("p", key) for key in ("shape", "dtype", "is_leaf", "_version")),
    *(SetAttribute("p", key) for key in ("_base", "_is_param", "device", "add_", "H")),
    Register("m", "training", "p", "by hand"),
    Register("m", "a.b", "p", "by hand"),
    Register("m", "", "p", "by hand"),
    Register("m", "__doc__", "p"),
    Tie("m", "training", "p"),
    Tie("m", "_parameters", "p"),
    Tie("m", "forward", "m.weight.grad"),
    Unregister("m", "training"),
    Unregister("m", "__class__"),
    *(Convert("m", Unwrap(key)) for key in ("grad", "shape", "c", "sum")),
    Write("p.data"),
    Write("m.training"),
    Write("p.sum.grad"),
    SetAttribute("p", "sum"),
    SetData("p", "m.weight._base"),
)


@pytest.mark.parametrize("action", DECLINED, ids=repr)
def test_declined(action: Action) -> None:
    """What torch lets a program overwrite, or reads where the model has nothing."""
    assert isinstance(step(module(), action, spec(NEW)), OutOfScope)


REFUSED = [
    (Register("m", "", "p"), "'parameter name can\\'t be empty string \"\"'"),
    (Register("m", "", "p", "buffer"), "'buffer name can\\'t be empty string \"\"'"),
    (Register("m", "a.b", "p"), "'parameter name can\\'t contain \".\"'"),
    (Register("m", ".", "t", "buffer"), "'buffer name can\\'t contain \".\"'"),
    (Register("m", "training", "p"), "\"attribute 'training' already exists\""),
    (Register("m", "forward", "t"), "\"attribute 'forward' already exists\""),
    (
        Register("m", "_parameters", "t", "buffer"),
        "\"attribute '_parameters' already exis",
    ),
    (Tie("m", "half", "p"), "\"attribute 'half' already exists\""),
    (Tie("m", "", "p"), "'parameter name can\\'t be empty string \"\"'"),
    (Unregister("m", "forward"), "'Module' object has no attribute 'forward'"),
]


@pytest.mark.parametrize(("action", "said"), REFUSED)
def test_refused(action: Action, said: str) -> None:
    """The name is looked at before the tensor, and nothing has happened by then."""
    outcome = step(module(), action, spec(NEW))

    assert isinstance(outcome, Refused)
    assert outcome.heap == module()
    text = text_of(spec(NEW), outcome.refusal)
    assert text is not None
    assert text.startswith(said) or outcome.rule == "place/absent"


def test_inner_tensors() -> None:
    """A number in the place of one is not modelled; behind a plain name it is."""
    wrapper, plain = module("TwoTensor"), module()

    number = SetAttribute("m.weight", "a")
    assert isinstance(step(wrapper, number, spec(NEW)), OutOfScope)
    named = done(plain, number)
    assert isinstance(step(named, Convert("m", Unwrap("a")), spec(NEW)), OutOfScope)
    assert isinstance(step(plain, Convert("m", Unwrap("a")), spec(NEW)), Done)


def test_an_rnn_has_more() -> None:
    """`bias` is the name of a setting there."""
    build = Builder()
    build.name("m", "module", build.module(cls="RNN"))
    build.name("p", "tensor", build.parameter())
    heap = build.heap()

    outcome = step(heap, Register("m", "bias", "p"), spec(NEW))
    assert isinstance(outcome, Refused)
    assert outcome.rule == "module/name-taken"
    assert isinstance(step(heap, Tie("m", "bias", "m"), spec(NEW)), OutOfScope)
    assert isinstance(
        step(heap, Register("m", "mode", "p", "by hand"), spec(NEW)), OutOfScope
    )


@pytest.mark.torch
@pytest.mark.parametrize("action", [one for one, _ in REFUSED], ids=repr)
def test_torch_refuses(action: Action) -> None:
    """With the same types and texts."""
    pytest.importorskip("torch")
    from swapmodel.conformance.lockstep import compare

    assert compare(module(), (action,), spec(NEW)).divergence is None
