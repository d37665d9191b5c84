"""Classes of tensors: what the machinery can tell apart."""

import pytest

from swapmodel.state.classes import CLASSES, KNOWN, TensorClass, tensor_class

every_class = pytest.mark.parametrize("one", KNOWN.values(), ids=lambda one: one.name)


@every_class
def test_found_by_name(one: TensorClass) -> None:
    """A class is known under the name that `type(t).__name__` gives."""
    assert one is tensor_class(one.name)


def test_classes_of_live_modules() -> None:
    """Some classes only a live module has, and no program and no file."""
    assert [*KNOWN][len(CLASSES) :] == [
        "LoggingTensor",
        "WrapperTensorWithCustomSizes",
        "WrapperTensorWithCustomStrides",
    ]


def test_an_unknown_class() -> None:
    """A name that no class has is an error of the model, not a plain tensor."""
    with pytest.raises(KeyError):
        tensor_class("DTensor")


@every_class
def test_slots_have_names_of_their_own(one: TensorClass) -> None:
    """A class lists a slot once, in an order of its own."""
    assert len(set(one.slots)) == len(one.slots)
    assert tuple(sorted(one.slots)) == one.layout[1]


@every_class
def test_a_class_without_slots_has_the_layout_of_a_tensor(one: TensorClass) -> None:
    """Only slots keep a class from taking the place of another one."""
    plain = tensor_class("Tensor").layout

    assert (one.layout == plain) == (not one.slots)


@every_class
def test_inner_tensors_have_names_of_their_own(one: TensorClass) -> None:
    """A wrapper's inner tensors can be told apart, and none is called `grad`."""
    assert len(set(one.inner)) == len(one.inner)
    assert "grad" not in one.inner
