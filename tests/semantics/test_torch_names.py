"""The names are those that torch has."""

from typing import Any

import pytest

from swapmodel.semantics import torch_names
from swapmodel.semantics.taken import DUNDER


def attributes_of(thing: Any) -> set[str]:
    """What `dir` lists, names with `__` left out."""
    return {one for one in dir(thing) if not DUNDER.fullmatch(one)}


def test_no_name_is_in_two_lists() -> None:
    """An attribute of a tensor is a method or none."""
    assert not torch_names.IN_TENSORS & torch_names.METHODS
    assert not torch_names.IN_MODULES & torch_names.IN_RNNS
    assert torch_names.IN_INSTANCES < torch_names.IN_MODULES


@pytest.mark.torch
def test_torch_has_these_names() -> None:
    """The lists are those of torch 2.13.0."""
    torch = pytest.importorskip("torch")
    plain, rnn = torch.nn.Module(), torch.nn.RNN(1, 1, bias=False)
    weights = {one for one, _ in rnn.named_parameters()}
    no_methods = {
        one
        for one in attributes_of(torch.nn.Parameter)
        if type(getattr(torch.nn.Parameter, one)).__name__
        in ("getset_descriptor", "property", "member_descriptor")
    }

    assert attributes_of(plain) == torch_names.IN_MODULES
    assert attributes_of(rnn) - attributes_of(plain) - weights == torch_names.IN_RNNS
    assert {*vars(plain)} == torch_names.IN_INSTANCES
    assert no_methods | {"_is_param"} == torch_names.IN_TENSORS
    assert attributes_of(torch.nn.Parameter) - no_methods == torch_names.METHODS
