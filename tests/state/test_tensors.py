"""Tensors: what the fields say of a swap is what a swap does."""

import ast
import inspect

import attrs
import pytest

from swapmodel.actions import SwapTensors
from swapmodel.state import tensors
from swapmodel.state.autograd import Hooks
from swapmodel.state.heap import Heap
from swapmodel.state.record import field_names
from swapmodel.state.tensors import Tensor
from tests.heaps import LATE, NEW, at, done, module, with_row


def docstrings() -> dict[str, str]:
    """The text below each field of `Tensor`."""
    tree = ast.parse(inspect.getsource(tensors))
    (cls,) = (
        one
        for one in tree.body
        if isinstance(one, ast.ClassDef) and one.name == "Tensor"
    )
    found = {}
    for field, text in zip(cls.body, cls.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            assert isinstance(field.target, ast.Name)
            found[field.target.id] = ast.literal_eval(text.value)
    return found


def all_different() -> Heap:
    """Two tensors, `p` and `t`, of which no field is the same."""
    heap = module("TwoTensor", grad=False)
    p, t = at(heap, "p"), at(heap, "t")
    heap = attrs.evolve(heap, hooks=(Hooks(),) * 4)
    heap = with_row(
        heap,
        "tensors",
        p,
        attributes=(("tag", 1),),
        slots=(("slot", 1),),
        backward_hooks=0,
        post_accumulate_grad_hooks=1,
    )
    return with_row(heap, "tensors", t, backward_hooks=2, post_accumulate_grad_hooks=3)


def test_every_field_says_whether_it_is_moved() -> None:
    """Each field of a tensor tells what a swap does to it."""
    told = docstrings()

    assert list(field_names(Tensor)) == list(told)
    assert all("Moved by a swap." in one or "Not moved" in one for one in told.values())


@pytest.mark.parametrize("name", field_names(Tensor))
@pytest.mark.parametrize("under", [LATE, NEW])
def test_a_swap_moves_what_it_says(name: str, under: str) -> None:
    """A swap exchanges the fields that say so and leaves the others."""
    before = all_different()
    p, t = at(before, "p"), at(before, "t")
    then = done(before, SwapTensors("p", "t"), under=under)
    was = (getattr(before.tensor(p), name), getattr(before.tensor(t), name))
    now = (getattr(then.tensor(p), name), getattr(then.tensor(t), name))

    assert was[0] != was[1]
    assert (was[::-1] if "Moved by a swap." in docstrings()[name] else was) == now
