"""What Python would see of a heap, as plain data."""

from swapmodel.actions import Forward, SwapTensors, TakeWeakref, View
from swapmodel.conformance.holders import NOWHERE
from swapmodel.conformance.observation import (
    FIELDS,
    Observation,
    Result,
    observe,
)
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import done, module


def row(heap: Heap, place: str) -> dict[str, object]:
    """The row of one place, by field."""
    return dict(zip(FIELDS, dict(observe(heap).places)[place], strict=False))


def result(then: Observation, errors: tuple[tuple[str, str], ...] = ()) -> Result:
    """An action that came to *errors*, after which there is *then*."""
    return Result("refused" if errors else "done", errors, (), then)


def test_places_follow_the_walk() -> None:
    """Variables in order of name, and behind each what it leads to."""
    seen = observe(module("TwoTensor"))

    assert [place for place, _ in seen.places] == [
        "m.weight",
        "m.weight.a",
        "m.weight.b",
        "m.weight.grad",
        "m.weight.grad.a",
        "m.weight.grad.b",
        "p",
        "p.a",
        "p.b",
        "t",
    ]


def test_a_tensor_that_was_seen_says_only_where() -> None:
    """A tie is the number of the first place, and leads nowhere again."""
    b = Builder()
    w = b.parameter()
    b.name("m", "module", b.module({"weight": w, "tied": w}))
    seen = dict(observe(b.heap()).places)

    assert seen["m.tied"] == (0,)
    assert list(seen) == ["m.weight", "m.tied"]


def test_a_view_shares_storage_and_owns_its_base() -> None:
    """The base has an owner more, and the view says where its base stands."""
    heap = done(module(grad=False), View("t", "v"))

    assert row(heap, "t")["_use_count()"] == 2
    assert row(heap, "v")["_base"] == row(heap, "t")["is"]
    assert row(heap, "v")["storage"] == row(heap, "t")["storage"]
    assert row(heap, "v")["_cdata"] != row(heap, "t")["_cdata"]


def test_a_graph_leads_to_what_no_variable_reaches() -> None:
    """After a swap, the node keeps the impl that the parameter has lost."""
    heap = done(module(grad=False), Forward("scale", "p", "y"), SwapTensors("p", "t"))
    seen = observe(heap)

    assert seen.nodes[0][0] == "MulBackward0"
    assert seen.nodes[1][0] == "AccumulateGrad"
    assert seen.places[seen.nodes[1][1]][0] == "t"


def test_weakrefs_say_what_they_yield() -> None:
    """A Python reference yields a place; one of the impl only says that it lives."""
    heap = done(
        module(grad=False),
        TakeWeakref("ReferenceType", "t", "r"),
        TakeWeakref("_WeakTensorRef", "t", "s"),
    )

    assert observe(heap).weakrefs == (
        ("r", "ReferenceType", row(heap, "t")["is"], ()),
        ("s", "_WeakTensorRef", NOWHERE, ()),
    )


def test_flags_are_seen() -> None:
    """Both switches, by name."""
    assert observe(module(swap=True)).flags == (("overwrite", False), ("swap", True))
