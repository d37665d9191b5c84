"""The classes that scripts bring along, on real torch."""

from typing import Any

import pytest

from swapmodel.report.snippets import CLASSES, FROM_TORCH, IMPORTS
from swapmodel.state import classes


@pytest.fixture(name="scope")
def made() -> dict[str, Any]:
    """Everything that the source defines."""
    scope: dict[str, Any] = {}
    exec("\n".join([IMPORTS, *CLASSES.values()]), scope)
    return scope


def test_every_class_that_torch_has_not_is_there() -> None:
    """A class of the model is one of torch's own or has a source."""
    assert set(classes.CLASSES) - set(FROM_TORCH) == set(CLASSES)


@pytest.mark.torch
def test_a_wrapper_is_what_the_model_says(scope: dict[str, Any]) -> None:
    """It has the inner tensors, is traceable, and keeps its class in a parameter."""
    torch, wrapper = scope["torch"], scope["TwoTensor"]
    made = wrapper(torch.tensor([1.0]), torch.tensor([2.0]))
    parameter = torch.nn.Parameter(made)
    known = classes.tensor_class("TwoTensor")
    is_traceable = torch.utils._python_dispatch.is_traceable_wrapper_subclass

    assert type(parameter) is wrapper
    assert is_traceable(parameter) == known.traceable
    assert tuple(made.__tensor_flatten__()[0]) == known.inner
    assert wrapper.__tensor_unflatten__({"a": made.a, "b": made.b}, None).b is made.b


@pytest.mark.torch
def test_operations_run_on_both(scope: dict[str, Any]) -> None:
    """An operation gives a new wrapper; in place, it gives the wrapper itself."""
    torch, wrapper = scope["torch"], scope["TwoTensor"]
    made = wrapper(torch.tensor([1.0]), torch.tensor([2.0]))
    doubled = made + made
    same = made.mul_(3)

    assert (doubled.a.item(), doubled.b.item()) == (2.0, 4.0)
    assert same is made
    assert repr(made) == "TwoTensor(tensor([3.]), tensor([6.]))"
