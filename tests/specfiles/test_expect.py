"""What stands at a place is told in the words of a scenario."""

import pytest

from swapmodel.actions import (
    Backward,
    Drop,
    Forward,
    Program,
    RegisterHook,
    TakeWeakref,
)
from swapmodel.run import run
from swapmodel.specfiles.expect import agrees, expectations, seen
from swapmodel.specfiles.given import heap_from_given
from swapmodel.specfiles.read import load_spec
from swapmodel.specfiles.schema import Table, Where
from swapmodel.state.events import Fired
from swapmodel.state.heap import Heap
from tests.specfiles.mine import said

TABLES: dict[str, object] = {
    "tensors": {
        "w": {"class": "TwoTensor", "attributes": {"tag": 1}},
        "p": {"class": "Parameter", "values": [3, 4], "variable": True},
        "q": {"values": "undefined", "device": "meta"},
    },
    "modules": {"m": {"parameters": {"weight": "w", "bias": "p"}}},
}


def after(*program: object) -> Heap:
    """The heap after a program."""
    start = heap_from_given(TABLES, "f")
    actions: Program = program  # type: ignore[assignment]
    return run(start, actions, load_spec("torch-2.4")).heaps[-1]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("m.weight.class", "TwoTensor"),
        ("m.weight.is_parameter", True),
        ("m.weight.attributes", {"tag": 1}),
        ("m.weight.values", {"a": [1, 2], "b": [1, 2]}),
        ("m.weight.a.values", [1, 2]),
        ("m.weight.dtype", "float32"),
        ("q.device", "meta"),
        ("q.values", "undefined"),
        ("p.length", 2),
        ("p.version", 0),
        ("p.requires_grad", True),
        ("p.is_leaf", True),
        ("p.use_count", 1),
        ("p.hooks", []),
        ("p.grad", "absent"),
        ("p.grad.dtype", "absent"),
        ("p", "present"),
        ("m", "present"),
        ("x.y", "absent"),
    ],
)
def test_properties(key: str, value: object) -> None:
    """Each property of a start heap, and what is not there."""
    assert seen(after(), (), key) == value


def test_what_a_program_leaves() -> None:
    """Graphs, hooks and owners show in the properties."""
    heap = after(RegisterHook("p", "h"), Forward("square", "p", "y"))

    assert seen(heap, (), "p.hooks") == ["h"]
    assert seen(heap, (), "p.use_count") == 3
    assert seen(heap, (), "y.is_leaf") is False
    assert seen(heap, (), "y.requires_grad") is True


def test_weak_references() -> None:
    """A weak reference is what it yields, alive or dead."""
    held = after(TakeWeakref("ReferenceType", "q", "r"))
    dead = after(TakeWeakref("ReferenceType", "q", "r"), Drop("q"))
    pointer = after(TakeWeakref("_WeakTensorRef", "p", "c"))

    assert agrees(held, (), "r", "q")
    assert agrees(held, (), "r", "alive")
    assert not agrees(held, (), "r", "p")
    assert agrees(dead, (), "r", "dead")
    assert not agrees(dead, (), "r", "q")
    assert agrees(pointer, (), "c", "alive")


def test_one_object_at_two_places() -> None:
    """A place may be expected to be another, and an absent one is none."""
    heap = after(Forward("scale", "p", "y"), Backward("y"))

    assert agrees(heap, (), "m.bias", "p")
    assert not agrees(heap, (), "m.bias", "y")
    assert not agrees(heap, (), "x", "z")


def test_what_fired() -> None:
    """The hooks that ran are listed in order."""
    events = (Fired("h", "tensor"), Fired("k", "node"))

    assert seen(after(), events, "fired") == ["h", "k"]


def test_a_misspelt_property() -> None:
    """A property that is nearly one is no place."""
    table = Table({"p.dtpe": "float32"}, Where("f", "then"))
    line = said(lambda: expectations(table))

    assert line.startswith(
        "unknown property 'dtpe' @ f:then.\"p.dtpe\", write dtype or "
    )
    assert "is no place" in said(lambda: expectations(Table({"p q": 1}, Where("f"))))
