"""Agreement on modules that torch tests."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

from swapmodel.live.agree import CASES, OPERATIONS, agree, of_samples  # noqa: E402
from swapmodel.live.samples import Sample, samples  # noqa: E402
from swapmodel.specfiles.read import load_spec  # noqa: E402
from tests.live.test_holders import Own  # noqa: E402

pytestmark = pytest.mark.torch

SPEC = load_spec("2.13.0")


@pytest.mark.parametrize(
    "kind",
    [
        *("nn.Linear", "nn.BatchNorm1d", "nn.RNN"),
        *("Tensor", "TwoTensor", "LoggingTensor", "WrapperTensorWithCustomSizes"),
    ],
)
def test_agrees(kind: str) -> None:
    """In every way to convert it."""
    tally = of_samples(kind, samples(kind)[:2], SPEC)

    assert (tally.examples, tally.disagreed) == ([], 0)
    assert tally.agreed == dict.fromkeys(OPERATIONS, 12)
    assert tally.conversions == 2 * len(CASES)


def test_lazy() -> None:
    """An uninitialized parameter is refused where torch refuses it."""
    tally = of_samples("nn.LazyConv1d", samples("nn.LazyConv1d")[:1], SPEC)

    assert tally.agreed.total() == len(CASES)
    assert set(tally.refused) == {"class/uninitialized"}


def test_disagreement() -> None:
    """The spec of a release that has no swap is found out, and told in words."""
    tally = of_samples("nn.Linear", samples("nn.Linear")[:1], load_spec("2.2.2"))

    assert tally.disagreed > 0
    assert tally.examples[0].startswith(
        "nn.Linear 0, .double(), swap on, no gradients: differs\n"
    )
    assert "path: 'data' in the model, 'swap' in torch" in tally.examples[0]


def test_declined() -> None:
    """A module that the model does not know is counted with the reason."""
    tally = of_samples("Own", [Sample("Own", 0, Own)], SPEC)

    assert tally.declined.total() == len(CASES)
    assert {why for _, why in tally.declined} == {"Own has an _apply of its own"}


def test_share() -> None:
    """One way in n of each instance, another one of the next."""
    tally = of_samples("nn.Linear", samples("nn.Linear"), SPEC, share=len(CASES))

    assert tally.agreed == {".double()": 1, '.to_empty(device="cpu")': 2}
    tally = of_samples("nn.Linear", samples("nn.Linear"), SPEC, share=5)
    assert tally.conversions == 14


def test_flags_are_off_again() -> None:
    """Afterwards as before."""
    of_samples("nn.Linear", samples("nn.Linear")[:1], SPEC)

    assert not torch.__future__.get_swap_module_params_on_conversion()
    assert not torch.__future__.get_overwrite_module_params_on_conversion()


def test_processes() -> None:
    """Each class in a process of its own, in order."""
    told = list[str]()
    found = agree(
        ["nn.Linear", "nn.ReLU"],
        SPEC.id,
        share=24,
        progress=lambda one: told.append(one.kind),
    )

    assert [one.kind for one in found] == told == ["nn.Linear", "nn.ReLU"]
    assert [one.conversions for one in found] == [3, 4]
