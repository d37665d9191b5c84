"""A start heap is read from tables."""

import pytest

from swapmodel.semantics.places import resolve
from swapmodel.semantics.tensors import is_parameter
from swapmodel.specfiles.given import heap_from_given
from swapmodel.state.ids import ModuleId, TensorId
from tests.specfiles.mine import said

TENSORS: dict[str, object] = {
    "w": {"class": "Parameter", "grad": "g"},
    "g": {"values": [1, 1]},
    "b": {"values": "undefined", "device": "meta", "variable": True},
    "t": {"class": "TwoTensor", "dtype": "float64", "attributes": {"tag": 1}},
    "p": {"values": [3]},
}
MODULES: dict[str, object] = {
    "m": {"parameters": {"weight": "w"}, "children": {"child": "inner"}},
    "inner": {"class": "Linear", "parameters": {"weight": "t"}, "buffers": {"b": "b"}},
}


def test_a_heap() -> None:
    """Tensors, gradients, modules and variables stand where the tables say."""
    tables = {"flags": {"swap": True}, "tensors": TENSORS, "modules": MODULES}
    heap = heap_from_given(tables, "f")
    wrapper = resolve(heap, "m.child.weight")
    parameter = resolve(heap, "m.weight")

    assert [name for name, _, _ in heap.names] == ["b", "m", "p"]
    assert heap.flags.swap
    assert wrapper is not None
    assert parameter is not None
    assert is_parameter(heap, TensorId(wrapper[1]))
    assert heap.tensor(TensorId(wrapper[1])).attributes == (("tag", 1),)
    assert heap.meta_of(TensorId(parameter[1])).requires_grad
    assert resolve(heap, "m.weight.grad") is not None
    assert resolve(heap, "m.child.b") == resolve(heap, "b")
    assert resolve(heap, "m.child.weight.a") is not None


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ({"tensor": {}}, "unknown key 'tensor' @ f:tensor, write tensors or "),
        (
            {"flags": {"swop": True}},
            "unknown key 'swop' @ f:flags.swop, write swap or overwrite",
        ),
        (
            {"tensors": {"w": {"class": "Paramter"}}},
            "unknown class 'Paramter' @ f:tensors.w.class, write Parameter or ",
        ),
        (
            {"tensors": {"w": {"values": [1, 8]}}},
            "[1, 8] are no values @ f:tensors.w.values, ",
        ),
        (
            {"tensors": {"w": {"values": [1, 2, 3]}}},
            "[1, 2, 3] are no values @ f:tensors.w.values, ",
        ),
        (
            {"tensors": {"w": {"grad": "h"}}},
            "unknown tensor 'h' @ f:tensors.w.grad, write w",
        ),
        (
            {"tensors": {"w": {"class": "Parameter", "dtype": "int64"}}},
            "a tensor of int64 cannot require a gradient @ f:tensors.w.dtype, write ",
        ),
        (
            {"tensors": {"w": {"dtype": "int8"}}},
            "a tensor with the dtype int8 is not modelled @ f:tensors.w.dtype, write ",
        ),
        (
            {"tensors": {"w": {"device": "cuda:1"}}},
            "a tensor with the device cuda:1 is not modelled @ f:tensors.w.device, ",
        ),
        (
            {"tensors": {"w": {"dtype": "flaot32"}}},
            "unknown dtype 'flaot32' @ f:tensors.w.dtype, write float32 or ",
        ),
        (
            {"tensors": {"w": {"grad": "w"}}},
            "its own gradient @ f:tensors.w.grad, name another tensor",
        ),
        (
            {"modules": {"m": {"parameters": {"w": "w"}}}},
            "unknown label 'w' @ f:modules.m.parameters.w, write None",
        ),
        (
            {"modules": {"m": {"children": {"c": "m"}}}},
            "a module inside itself @ f:modules.m, leave it out",
        ),
        (
            {"tensors": {"m": {}}, "modules": {"m": {}}},
            "'m' is a tensor too @ f:modules.m, write another label",
        ),
        (
            {
                "tensors": {"w": {}},
                "modules": {"m": {"parameters": {"w": "w"}, "buffers": {"w": "w"}}},
            },
            "'w' is named twice @ f:modules.m, name it once",
        ),
        (
            {
                "tensors": {"w": {}},
                "modules": {"m": {"parameters": {"w": "w"}, "buffers": {"w": "None"}}},
            },
            "'w' is named twice @ f:modules.m, name it once",
        ),
        (
            {"tensors": {"w": {"attributes": {"grad": 1}}}},
            "every tensor has its own grad @ f:tensors.w.attributes.grad, write ",
        ),
        (
            {"tensors": {"w": {}}, "modules": {"m": {"buffers": {"training": "w"}}}},
            "every module has its own training @ f:modules.m.buffers.training, write ",
        ),
        (
            {"tensors": {"probe": {}}},
            "'probe' is what an invariant assigns to look ahead @ f:tensors.probe, ",
        ),
        ({"tensors": {"a b": {}}}, "'a b' is no name @ f:tensors.\"a b\", write "),
    ],
)
def test_what_is_no_heap(table: dict[str, object], line: str) -> None:
    """Each unknown name, wrong value or circle has its line."""
    assert said(lambda: heap_from_given(table, "f")).startswith(line)


def test_nothing_can_be_listed_twice() -> None:
    """A name that stands for no tensor, among the parameters and the buffers."""
    nothing = {"w": "None"}
    table = {"modules": {"m": {"parameters": nothing, "buffers": nothing}}}
    module = heap_from_given(table, "f").module(ModuleId(0))

    assert (module.parameters, module.buffers) == ((("w", None),), (("w", None),))
