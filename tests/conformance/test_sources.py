"""Sources: the classes that scripts declare are those that the lockstep uses."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.conformance.sources import CLASSES  # noqa: E402
from swapmodel.report import snippets  # noqa: E402
from swapmodel.state import classes  # noqa: E402

pytestmark = [pytest.mark.torch]


def test_every_class_of_the_model_is_there() -> None:
    """But the plain tensor, and the one of which only the path is modelled."""
    needed = set(classes.CLASSES) - {"Tensor", "FakeTensor"}

    assert needed <= set(CLASSES)
    assert set(snippets.FUNCTIONS) <= set(CLASSES)


@pytest.mark.parametrize("name", sorted(set(classes.CLASSES) & set(CLASSES)))
def test_a_class_is_what_its_description_says(name: str) -> None:
    """Parameters derive from `Parameter`, slots are listed, wrappers flatten."""
    import copyreg

    cls, known = CLASSES[name], classes.CLASSES[name]

    assert cls.__name__ == name
    assert issubclass(cls, torch.nn.Parameter) is known.parameter
    assert tuple(copyreg._slotnames(cls)) == known.slots  # type: ignore[attr-defined]
    assert hasattr(cls, "__tensor_flatten__") is known.traceable
