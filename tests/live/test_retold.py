"""A live world, told as a heap tells it."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from swapmodel.conformance.observation import FIELDS, VALUES  # noqa: E402
from swapmodel.live.lift import lift  # noqa: E402
from swapmodel.live.retold import contents, seen, seen_live  # noqa: E402

pytestmark = pytest.mark.torch


def told(roots: dict[str, Any], field: str, place: str = "t") -> tuple[Any, Any]:
    """What the model and the live world say of a field at a place."""
    lifted = lift(roots)
    both = seen(lifted.heap, contents(roots, lifted)), seen_live(roots, lifted)
    one, other = (dict(found.places)[place][FIELDS.index(field)] for found in both)
    return one, other


@pytest.mark.parametrize(
    ("t", "length"), [(torch.ones(0), 0), (torch.ones(1), 1), (torch.ones(5, 5), 2)]
)
def test_sizes(t: Any, length: int) -> None:
    """None, one or many."""
    assert told({"t": t}, "length") == (length, length)


def test_offsets() -> None:
    """At the beginning of the storage, or not."""
    whole = torch.arange(9)

    assert told({"t": whole[5:], "u": whole}, "offset") == (1, 1)
    assert told({"t": whole[:5], "u": whole}, "offset") == (0, 0)


def test_values() -> None:
    """Contents are told apart, whichever order memory has."""
    t = torch.arange(6.0).reshape(2, 3)
    one, other = told({"t": t.t().data}, "values")

    assert one == other
    assert told({"t": t.clone()}, "values") != (one, one)
    assert told({"t": t.t().contiguous()}, "values") == (one, one)


def test_a_window_reads_what_it_covers() -> None:
    """As its pieces lie, those of other windows included."""
    whole = torch.arange(9.0)
    one, other = told({"t": whole[2:7], "u": whole[4:5], "v": whole}, "values")

    assert one == other
    assert told({"t": torch.arange(2.0, 7.0)}, "values") == (one, one)


def test_a_cast_rounds() -> None:
    """What the model keeps through a cast is compared as the cast left it."""
    t = torch.tensor([0.1, 0.2], dtype=torch.float64)
    roots = {"t": t}
    lifted = lift(roots)
    known = contents(roots, lifted)
    narrow = lift({"t": t.float()}).heap
    wide = torch.tensor([0.1, 0.2]).double()

    def values(heap: Any) -> Any:
        return dict(seen(heap, known).places)["t"][VALUES]

    assert values(narrow) != values(lifted.heap)
    assert values(narrow) == told({"t": t.float()}, "values")[1]
    assert values(narrow) == told({"t": wide}, "values")[1]


def test_attributes_by_object() -> None:
    """An entry of `__dict__` is the same if it holds the same object."""
    t = torch.ones(2)
    t.tag = [1]
    roots = {"t": t}
    lifted = lift(roots)
    before = seen_live(roots, lifted)
    t.tag = [1]

    assert seen_live(roots, lifted) != before
