"""Claims about one heap: coherence, and the laws that a heap cannot break."""

from typing import Any

import pytest

from swapmodel.actions import (
    Action,
    CastData,
    MakeOptimizer,
    NameTensor,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.invariants.of_heaps import content, incoherent, told
from swapmodel.semantics.payloads import Dense
from tests.heaps import (
    LATE,
    at,
    done,
    module,
    refused,
    with_row,
)
from tests.invariants.examples import SWAP, violations

# -- Reading ---------------------------------------------------------------------------


def test_content() -> None:
    """What a tensor holds is read; where reading is refused or undefined, nothing."""
    heap = done(module("TwoTensor"), SetData("t", "p"))
    torn = refused(
        done(module("TwoTensor"), TakeWeakref("_WeakTensorRef", "p", "r")), SWAP, LATE
    ).heap

    assert content(module(), at(module(), "t")) == Dense("float32", "cpu", 2, (5, 6))
    assert content(heap, at(heap, "t")) is None
    assert content(torn, at(torn, "p")) is None


def test_telling() -> None:
    """A payload is told by dtype and values, a wrapper by its inner tensors."""
    heap = module("TwoTensor")

    assert told(content(heap, at(heap, "t"))) == "float32 [5, 6]"
    assert told(content(heap, at(heap, "p"))) == "a: float32 [3, 4], b: float32 [3, 4]"
    assert told(Dense("float16", "meta", 2, None)) == "float16 undefined"
    assert told(None) == "unreadable"


# -- Coherence -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value"), [("dtype", "float64"), ("device", "cuda"), ("length", 1)]
)
def test_each_half_of_a_wrapper(field: str, value: Any) -> None:
    """Dtype, device and size of a wrapper are those of each inner tensor."""
    heap = module("TwoTensor", grad=False)
    outer = heap.tensor(at(heap, "p")).impl
    inner = heap.tensor(at(heap, "p.b")).impl
    both = list(incoherent(with_row(heap, "impls", outer, **{field: value})))
    one = list(incoherent(with_row(heap, "impls", inner, **{field: value})))

    assert [fault.place for fault in both] == ["p", "p"]
    assert [(fault.place, fault.was) for fault in one] == [
        ("p", f"{field} of p.b is that of p")
    ]
    assert str(value) in one[0].now


def test_a_class_that_does_not_fit() -> None:
    """A class without handler over a wrapper's impl is incoherent, and the reverse."""
    heap = done(module("TwoTensor"), TakeWeakref("_WeakTensorRef", "p", "r"))
    torn = refused(heap, SwapTensors("p", "t"), LATE).heap
    found = {
        (fault.place, fault.now) for fault in incoherent(torn) if "class" in fault.was
    }

    assert found == {
        ("p", "Tensor over a wrapper's impl"),
        ("t", "TwoTensor over a plain impl"),
    }


def test_only_what_became_false() -> None:
    """A wrapper that was incoherent before is not reported again."""
    heap = done(module("TwoTensor"), CastData("p", "float64"))

    again = violations("coherence", heap, CastData("p", "float64"))
    other = violations("coherence", heap, CastData("m.weight", "float64"))

    assert again == []
    assert [one.place for one in other] == ["m.weight"] * 2


@pytest.mark.parametrize(
    "action", [NameTensor("m.weight", "a"), MakeOptimizer("SGD", "m", "o")]
)
def test_an_old_fault_under_a_new_name(action: Action) -> None:
    """What disagrees already is no new fault where somebody else comes to hold it."""
    torn = done(module("TwoTensor"), CastData("m.weight", "float64"))

    assert {one.place for one in incoherent(done(torn, action))} > {"m.weight"}
    assert violations("coherence", torn, action) == []


def test_an_old_fault_in_what_is_made_of_it() -> None:
    """A view of what disagrees disagrees as well, and tears nothing."""
    torn = done(module("TwoTensor"), CastData("p.a", "float64"))

    assert {one.place for one in incoherent(done(torn, View("p", "v")))} == {"p", "v"}
    assert violations("coherence", torn, View("p", "v")) == []


def test_an_old_fault_in_another_tensor() -> None:
    """A swap that carries what disagrees to another tensor tears nothing."""
    torn = done(module("TwoTensor"), CastData("p", "float64"))

    assert {one.place for one in incoherent(done(torn, SwapTensors("p", "t")))} == {"t"}
    assert violations("coherence", torn, SwapTensors("p", "t")) == []


def test_the_kind_of_place() -> None:
    """A violation says what the tensor is to whoever holds it."""
    start = module("TwoTensor")
    kinds = {
        place: violations("coherence", start, CastData(place, "float64"))[0].kind
        for place in ("m.weight", "m.weight.grad", "p")
    }

    assert kinds == {
        "m.weight": "parameter",
        "m.weight.grad": "gradient",
        "p": "variable",
    }
