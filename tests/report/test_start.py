"""How a start heap is written."""

from collections.abc import Iterator
from typing import Any

import pytest

from swapmodel.actions import Forward
from swapmodel.outcomes import Done
from swapmodel.report.names import variable
from swapmodel.report.questions import QUESTIONS, answers, code
from swapmodel.report.snippets import CLASSES, IMPORTS
from swapmodel.report.spelling import FLAGS, expression
from swapmodel.report.start import NotWritten, start_lines
from swapmodel.semantics.places import places
from swapmodel.semantics.step import step
from swapmodel.specfiles.read import load_spec
from swapmodel.specfiles.scopes import load_scope, scopes_of
from swapmodel.state.build import Builder
from swapmodel.state.classes import tensor_class
from swapmodel.state.heap import Heap
from tests.report import examples


def test_a_wrapper_with_everything() -> None:
    """Class, values, attributes and gradient are written where the tensor stands."""
    lines = start_lines(examples.wrapper_heap(swap=True))

    assert lines == (
        "torch.__future__.set_swap_module_params_on_conversion(True)",
        "m = torch.nn.Module()",
        "m.weight = torch.nn.Parameter("
        "TwoTensor(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0])))",
        "m.weight.tag = 1",
        "m.weight.grad = TwoTensor(torch.tensor([1.0, 1.0]), torch.tensor([1.0, 1.0]))",
        "p = torch.nn.Parameter(torch.tensor([3.0, 4.0]))",
    )


def test_ties_buffers_and_children() -> None:
    """A tensor is made once and named again wherever else it stands."""
    build = Builder()
    tied = build.parameter(requires_grad=False)
    buffer = build.tensor(None, dtype="int64")
    child = build.module({"w": tied}, cls="Linear")
    module = build.module(
        {"w": tied, "none": None}, buffers={"b": buffer}, children={"0": child}
    )
    build.name("m", "module", module)
    build.name("w", "tensor", tied)

    assert start_lines(build.heap()) == (
        "m = torch.nn.Module()",
        "m.w = torch.nn.Parameter(torch.tensor([1.0, 2.0]), False)",
        'm.register_parameter("none", None)',
        'm.register_buffer("b", torch.empty(2, dtype=torch.int64))',
        'm.add_module("0", type("Linear", (torch.nn.Module,), {})())',
        'getattr(m, "0").w = m.w',
        "w = m.w",
    )


def test_modules_of_torch_and_by_hand() -> None:
    """An RNN takes its weights and lists them; a plain tensor is put in by hand."""
    build = Builder()
    plain, w = build.tensor(attributes={"tag": 1}), build.parameter()
    rnn = build.module({"weight_ih_l0": w, "weight_hh_l0": plain}, cls="RNN")
    build.name("m", "module", rnn)

    assert start_lines(build.heap()) == (
        "m = torch.nn.RNN(1, 1, bias=False)",
        "m.weight_ih_l0 = torch.nn.Parameter(torch.tensor([1.0, 2.0]))",
        'm._parameters["weight_hh_l0"] = torch.tensor([1.0, 2.0])',
        "m.weight_hh_l0.tag = 1",
        "m._init_flat_weights()",
    )


def test_a_live_graph_is_no_start() -> None:
    """What no line of a script makes is refused, not left out."""
    action = Forward("scale", "p", "y")
    done = step(examples.wrapper_heap(), action, load_spec("torch-2.13"))
    assert isinstance(done, Done)

    with pytest.raises(NotWritten, match="nodes"):
        start_lines(done.heap)


def different(heap: Heap, known: dict[str, Any]) -> Iterator[str]:
    """Every question not answered alike; a lazy parameter answers none."""
    for place, t in places(heap):
        if tensor_class(heap.tensor(t).cls).uninitialized:
            continue
        predicted = answers(heap, t)
        for one in QUESTIONS:
            if one.comparable and one.code in predicted:
                asked = f"({code(one, expression(place))}) == {predicted[one.code]}"
                if not eval(asked, known):
                    yield asked


@pytest.mark.torch
@pytest.mark.parametrize("name", scopes_of("nightly"))
def test_torch_makes_the_starts_of_the_searches(name: str) -> None:
    """Nothing but its names stays, and each place answers as the heap does."""
    pytest.importorskip("torch")
    for start, heap in load_scope(name).starts:
        known = dict[str, Any]()
        exec("\n".join([IMPORTS, "import weakref", *CLASSES.values()]), known)
        before = {*known}
        try:
            exec("\n".join(start_lines(heap)), known)
            assert {*known} - before == {variable(one) for one, _, _ in heap.names}
            assert [*different(heap, known)] == [], start
        finally:
            exec("\n".join(one.format(False) for one in FLAGS.values()), known)
