"""Optimizers in reports: places are spelled as torch reads them."""

from typing import get_args

import pytest

from swapmodel.report.optimizers import OPTIMIZERS, inside_optimizer
from swapmodel.state.optimizers import OptimizerKind


def test_every_kind_can_be_made() -> None:
    """With the rates that make its steps exact, of a module's parameters."""
    assert tuple(OPTIMIZERS) == get_args(OptimizerKind)
    for text in OPTIMIZERS.values():
        assert text.format(m="m.child").startswith("torch.optim.")
        assert "(m.child.parameters(), lr=1.0" in text.format(m="m.child")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("param_groups[0][1]", 'param_groups[0]["params"][1]'),
        ("state[0][0].step", 'state[opt.param_groups[0]["params"][0]]["step"]'),
        (
            "state[0][1].momentum_buffer",
            'state[opt.param_groups[0]["params"][1]]["momentum_buffer"]',
        ),
    ],
)
def test_what_an_optimizer_holds(name: str, expected: str) -> None:
    """State is keyed by the object, which is found among the parameters."""
    assert inside_optimizer("opt", name) == expected


@pytest.mark.torch
def test_torch_reads_what_is_spelled() -> None:
    """The texts run, and give the tensors."""
    import torch

    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(torch.ones(2))
    for kind, text in OPTIMIZERS.items():
        opt = eval(text.format(m="module"), {"torch": torch, "module": module})
        module.weight.grad = torch.ones(2)
        opt.step()
        known = {"opt": opt}
        held = eval("opt." + inside_optimizer("opt", "param_groups[0][0]"), known)
        assert held is module.weight
        if kind == "Adam":
            count = eval("opt." + inside_optimizer("opt", "state[0][0].step"), known)
            assert count == 1
