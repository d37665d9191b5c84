"""How actions, places and refusals are written."""

import pytest

from swapmodel import actions
from swapmodel.actions import ACTIONS, Cast, Convert, SetAttribute
from swapmodel.conversions import (
    ByRole,
    ConversionFn,
    DetachEach,
    Identity,
    NoTensor,
    Other,
    RaiseAt,
    Scale,
    ScaleInPlace,
    To,
    ToDevice,
    ToEmpty,
    Type,
    Unwrap,
    Wrap,
)
from swapmodel.outcomes import Refusal
from swapmodel.report import spelling
from swapmodel.specfiles.read import load_spec

REFUSAL = Refusal(
    "swap/few-owners",
    "t2",
    (("count", 3),),
    (Refusal("convert/could-not-swap", "w", (("module", "Linear"), ("key", "w"))),),
)


def test_every_action_is_written() -> None:
    """No kind of action is without a line of torch."""

    assert set(ACTIONS) == set(spelling.SPELLINGS)


def test_a_cast_is_the_method_that_people_call() -> None:
    """A cast with a method of its own is that method, another one a function."""
    written = [
        spelling.spelled(Convert("m", Cast(dtype))) for dtype in ("float64", "int64")
    ]

    assert written == [
        "m.double()",
        "m._apply(lambda t: (t.to(torch.int64) if t.is_floating_point() else t))",
    ]


@pytest.mark.parametrize(
    ("fn", "written"),
    [
        (To("float64"), "m.to(torch.float64)"),
        (Type("int64"), "m.type(torch.int64)"),
        (ToDevice("meta"), 'm.to("meta")'),
        (ToEmpty("cpu"), 'm.to_empty(device="cpu")'),
        (Identity(), "m._apply(lambda t: (t))"),
        (DetachEach(), "m._apply(lambda t: (t.detach()))"),
        (Scale(), "m._apply(lambda t: (t * 3))"),
        (ScaleInPlace(), "m._apply(lambda t: (t.mul_(3)))"),
        (
            Wrap("TwoTensor"),
            "m._apply(lambda t: (TwoTensor(t.detach().clone(), t.detach().clone())))",
        ),
        (Unwrap(), 'm._apply(lambda t: (getattr(t, "a", t)))'),
        (NoTensor(), "m._apply(lambda t: (None))"),
        (Other("m.bias"), "m._apply(lambda t: (m.bias))"),
        (
            RaiseAt(2, ToDevice("meta")),
            'm._apply(RaiseAt(2, lambda t: (t.to("meta"))))',
        ),
        (
            ByRole(Type("int64"), ToEmpty("meta")),
            "m._apply(lambda t: (t.type(torch.int64)) "
            "if isinstance(t, torch.nn.Parameter) "
            'else (torch.empty_like(t, device="meta")))',
        ),
        (
            RaiseAt(1, To("float16")),
            "m._apply(RaiseAt(1, lambda t: (t.to(torch.float16) "
            "if t.is_floating_point() or t.is_complex() else t)))",
        ),
    ],
    ids=str,
)
def test_every_function_is_written(fn: ConversionFn, written: str) -> None:
    """A method where the module has one, else a function for `_apply`."""

    assert spelling.spelled(Convert("m", fn)) == written


def test_a_name_that_is_no_identifier() -> None:
    """The children of a `Sequential` are reached by `getattr`."""
    written = spelling.spelled(SetAttribute("m.0.weight", "tag"))

    assert written == 'getattr(m, "0").weight.tag = 1'


def test_an_index_is_left_alone() -> None:
    """A place in a list is Python as it stands."""
    place = "opt.param_groups[0]"

    assert spelling.expression(place) == place


def test_a_chain_is_told_outermost_first() -> None:
    """What `except` catches comes first, its cause behind it."""
    spec = load_spec("torch-2.13")
    texts = [spelling.text(spec, one) for one in spelling.chain(REFUSAL)]

    assert texts[0] == "_apply(): Couldn't swap Linear.w"
    assert texts[1].startswith("Expected use_count of t2 to be 1 or 2 ")


def test_the_exception_is_that_of_the_outermost_rule() -> None:
    """`except` names what the rule says that torch raises."""
    absent = Refusal("place/absent", "q")

    assert spelling.exception(REFUSAL) == "RuntimeError"
    assert spelling.exception(absent) == "(NameError, AttributeError)"


def test_forward_functions_are_all_written() -> None:
    """The closed list of forward functions has a line of torch each."""
    written = {
        function: spelling.spelled(actions.Forward(function, "p", "y"))  # type: ignore[arg-type]
        for function in spelling.FORWARD
        if function != "view"
    }

    assert written == {
        "scale": "y = p * 3",
        "square": "y = p.pow(2)",
        "relu": "y = p.relu()",
    }
