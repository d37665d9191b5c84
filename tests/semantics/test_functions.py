"""Functions that a conversion applies: what they make of one tensor."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.actions import Cast, CastData, SwapTensors, TakeWeakref
from swapmodel.outcomes import Refusal
from swapmodel.semantics import functions
from swapmodel.semantics.payloads import cast, read
from swapmodel.state.draft import Draft
from tests.heaps import LATE, at, done, module, refused


@pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])
def test_a_cast_to_the_own_dtype(cls: str) -> None:
    """`t.to(dtype)` is *t* itself where the dtype is that one already."""
    heap = module(cls)
    draft = Draft(heap)

    assert functions.call(draft, Cast("float32"), at(heap, "p")) == at(heap, "p")
    assert draft.sealed() == heap


@given(cls=st.sampled_from(("Parameter", "TwoTensor")), dtype=st.sampled_from("ab"))
def test_a_cast_makes_a_copy(cls: str, dtype: str) -> None:
    """A cast makes a tensor that shares nothing, and leaves the old one alone."""
    wanted = {"a": "float64", "b": "float16"}[dtype]
    heap = module(cls)
    draft = Draft(heap)
    p = at(heap, "p")
    made = functions.call(draft, Cast(wanted), p)
    assert isinstance(made, int)

    assert made not in [t for t, _ in enumerate(heap.tensors)]
    assert read(draft, made) == cast(read(heap, p), wanted)  # type: ignore[arg-type]
    assert draft.frozen().tensors[: len(heap.tensors)] == heap.tensors
    assert not draft.meta_of(made).requires_grad


def test_a_wrapper_is_asked_for_its_own_dtype() -> None:
    """A wrapper that was cast behind its back passes for converted."""
    heap = done(module("TwoTensor"), CastData("p", "float64"))
    draft = Draft(heap)
    again = functions.cast(draft, at(heap, "p"), "float32")
    assert isinstance(again, int)

    assert functions.cast(draft, at(heap, "p"), "float64") == at(heap, "p")
    assert again != at(heap, "p")
    assert draft.impl_of(again).dtype == "float32"


def test_a_cast_of_what_cannot_be_read() -> None:
    """A torn tensor cannot be cast, unless it has the dtype already."""
    heap = done(module("TwoTensor"), TakeWeakref("_WeakTensorRef", "p", "r"))
    heap = refused(heap, SwapTensors("p", "t"), LATE).heap
    draft = Draft(heap)
    p = at(heap, "p")

    assert functions.cast(draft, p, "float64") == Refusal("dispatch/no-handler")
    assert functions.cast(draft, p, "float32") == p
