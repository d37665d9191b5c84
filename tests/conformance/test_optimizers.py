"""What a real optimizer holds is found by the group and the number of its key."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.conformance.optimizers import in_optimizer, state_of  # noqa: E402

pytestmark = [
    pytest.mark.torch,
]


def test_an_optimizer_is_read_by_its_paths() -> None:
    """Parameters by their number, state by the number of its key."""
    one, two = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
    opt = torch.optim.SGD([one, two], lr=1.0, momentum=1.0)
    two.grad = torch.ones(2)
    opt.step()
    found = dict(in_optimizer(opt))

    assert found["param_groups[0][0]"] is one
    assert found["param_groups[0][1]"] is two
    assert list(found)[2:] == ["state[0][1].momentum_buffer"]
    assert found["state[0][1].momentum_buffer"].tolist() == [1.0, 1.0]


def test_groups() -> None:
    """Each has a number, and its parameters theirs."""
    one, two = (torch.nn.Parameter(torch.ones(2)) for _ in "ab")
    opt = torch.optim.SGD([{"params": [one]}, {"params": [two]}], lr=1.0, momentum=1.0)
    two.grad = torch.ones(2)
    opt.step()

    assert dict(in_optimizer(opt))["param_groups[1][0]"] is two
    assert [key for key, _ in state_of(opt)] == ["[1][0]"]
