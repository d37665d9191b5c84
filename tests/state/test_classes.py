"""Classes of tensors: what the machinery can tell apart."""

import pytest

from swapmodel.state.classes import CLASSES, TensorClass, tensor_class

every_class = pytest.mark.parametrize("one", CLASSES.values(), ids=lambda one: one.name)


@every_class
def test_found_by_name(one: TensorClass) -> None:
    """A class is known under the name that `type(t).__name__` gives."""
    assert one is tensor_class(one.name)


def test_an_unknown_class() -> None:
    """A name that no class has is an error of the model, not a plain tensor."""
    with pytest.raises(KeyError):
        tensor_class("DTensor")


@every_class
def test_slots_compare_as_sets(one: TensorClass) -> None:
    """Slots are sorted, because torch compares them whatever their order."""
    assert tuple(sorted(set(one.slots))) == one.slots


@every_class
def test_inner_tensors_have_names_of_their_own(one: TensorClass) -> None:
    """A wrapper's inner tensors can be told apart, and none is called `grad`."""
    assert len(set(one.inner)) == len(one.inner)
    assert "grad" not in one.inner
