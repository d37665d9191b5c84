"""The modules by which torch tests its own."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

from swapmodel.live.samples import (  # noqa: E402
    module_kinds,
    roots_of,
    samples,
    tensor_kinds,
)

pytestmark = pytest.mark.torch


def test_kinds() -> None:
    """Torch lists more than a hundred classes."""
    assert len(module_kinds()) > 100
    assert {"nn.Linear", "nn.LSTM", "nn.LazyConv2d"} <= {*module_kinds()}
    assert {"Tensor", "TwoTensor", "LoggingTensor"} <= {*tensor_kinds()}


def test_samples() -> None:
    """Each is made anew, of its class, the same every time."""
    first, second = (samples("nn.Linear")[0].make() for _ in range(2))

    assert type(first) is torch.nn.Linear
    assert first is not second
    assert torch.equal(first.weight, second.weight)
    assert [one.number for one in samples("nn.Linear")] == [0, 1, 2]


def test_tensors() -> None:
    """Each class as a parameter, one without gradient, one held twice, a buffer."""
    parameter, frozen, tied, buffer = (one.make() for one in samples("TwoTensor"))

    assert isinstance(parameter.held, torch.nn.Parameter)
    assert (parameter.held.requires_grad, frozen.held.requires_grad) == (True, False)
    assert tied.again is tied.held
    assert dict(buffer.named_buffers()).keys() == {"held"}
    assert {type(one.held).__name__ for one in (frozen, buffer)} == {"TwoTensor"}


def test_roots() -> None:
    """With gradients the optimizer has a state, and every tensor has a name."""
    roots = roots_of(torch.nn.BatchNorm1d(2), gradients=True)

    assert list(roots) == ["m", "opt", "t0", "t1", "t2", "t3", "t4", "t5", "t6"]
    assert len(roots["opt"].state) == 2
    assert roots["t5"] is roots["m"].weight.grad


def test_roots_without_gradients() -> None:
    """The optimizer has made no state, and a module with nothing to train has none."""
    roots = roots_of(torch.nn.Linear(2, 2), gradients=False)

    assert list(roots) == ["m", "opt", "t0", "t1"]
    assert not roots["opt"].state
    assert list(roots_of(torch.nn.ReLU(), gradients=True)) == ["m"]


def test_uninitialized() -> None:
    """What has no shape yet gets no gradient."""
    roots = roots_of(torch.nn.LazyLinear(2), gradients=True)

    assert list(roots) == ["m", "opt", "t0", "t1"]
