"""`copy.deepcopy`: what comes along, and what stays one."""

import pytest

from swapmodel.actions import (
    CastData,
    Deepcopy,
    DeepcopyModule,
    FillGrad,
    Forward,
    Register,
    RegisterHook,
    RequiresGrad,
    SetAttribute,
    SetData,
    SetGrad,
    View,
)
from swapmodel.outcomes import OutOfScope, Undefined
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.heaps import NEW, at, done, module, refused, spec, values, with_row


def test_a_parameter() -> None:
    """A parameter is made anew: no attributes, no hooks, no gradient, no counts."""
    heap = done(
        module(), SetAttribute("m.weight", "tag"), RegisterHook("m.weight", "h")
    )
    then = done(heap, Deepcopy("m.weight", "q"))
    q = then.tensor(at(then, "q"))

    assert (q.cls, q.attributes, q.backward_hooks) == ("Parameter", (), None)
    assert then.meta_of(at(then, "q")).requires_grad
    assert then.meta_of(at(then, "q")).grad is None
    assert values(then, "q") == (1, 2)
    assert then.version(then.impl_of(at(then, "q")).counter) == 0


def test_a_frozen_parameter() -> None:
    """What requires no gradient does not in the copy."""
    build = Builder()
    build.name("p", "tensor", build.parameter(requires_grad=False))
    then = done(build.heap(), Deepcopy("p", "q"))

    assert not then.meta_of(at(then, "q")).requires_grad


def test_a_wrapper() -> None:
    """A wrapper copies its `__dict__` and its gradient."""
    heap = done(module("TwoTensor"), SetAttribute("m.weight", "tag"))
    then = done(heap, Deepcopy("m.weight", "q"))
    q = then.tensor(at(then, "q"))

    assert (q.cls, q.attributes, q.is_param) == ("TwoTensor", (("tag", 1),), True)
    assert at(then, "q.a") != at(then, "m.weight.a")
    assert values(then, "q.grad.a") == (1, 1)
    assert at(then, "q.grad") != at(then, "m.weight.grad")
    assert then.version(then.impl_of(at(then, "q.a")).counter) == 1


def test_a_tensor() -> None:
    """A plain tensor is copied with all that it stores; the copy counts one write."""
    heap = done(module(), FillGrad("t"), Deepcopy("t", "q"))

    assert values(heap, "q") == (5, 6)
    assert values(heap, "q.grad") == (1, 1)
    assert heap.version(heap.impl_of(at(heap, "q")).counter) == 1


def test_meta() -> None:
    """A tensor without memory is cloned, which counts no write."""
    build = Builder()
    build.name("p", "tensor", build.tensor(None, device="meta"))
    then = done(build.heap(), Deepcopy("p", "q"))

    assert then.impl_of(at(then, "q")).device == "meta"
    assert then.version(then.impl_of(at(then, "q")).counter) == 0


def test_a_module() -> None:
    """What is one in a module is one in its copy, storages included."""
    build = Builder()
    w, t = build.parameter(), build.tensor((3, 4))
    child = build.module({"tied": w, "none": None})
    one = build.module(children={"c": child})
    m = build.module(
        {"weight": w},
        buffers={"same": w, "t": t, "again": t},
        children={"one": one, "c": child},
    )
    build.name("m", "module", m)
    heap = done(build.heap(), View("m.t", "v"), Register("m", "v", "v", "buffer"))
    then = done(heap, DeepcopyModule("m", "n"))

    assert at(then, "n.weight") == at(then, "n.same") == at(then, "n.one.c.tied")
    assert at(then, "n.weight") != at(then, "m.weight")
    assert at(then, "n.t") == at(then, "n.again") != at(then, "n.v")
    assert (
        then.impl_of(at(then, "n.t")).storage == then.impl_of(at(then, "n.v")).storage
    )
    made = [one for one in then.modules if one is not None]
    assert len(made) == 6


# -- Refusals ------------------------------------------------------------------------


def with_graph() -> Heap:
    """A module that holds an output of a graph, as buffer of its child."""
    heap = done(module(), Forward("scale", "p", "y"))
    return done(heap, Register("m", "y", "y", "buffer"))


def test_not_a_leaf() -> None:
    """A non-leaf refuses, and so does all that holds one."""
    heap = with_graph()

    assert refused(heap, Deepcopy("y", "q")).rule == "deepcopy/not-a-leaf"
    assert refused(heap, DeepcopyModule("m", "n")).rule == "deepcopy/not-a-leaf"


def test_not_a_leaf_inside() -> None:
    """A refusal comes from wherever the copy has got to."""
    build = Builder()
    child = build.module()
    build.name("m", "module", build.module(children={"c": child}))
    build.name("p", "tensor", build.parameter(cls="TwoTensor"))
    build.name("t", "tensor", build.tensor())
    base = done(build.heap(), Forward("scale", "t", "z"), Forward("scale", "p", "y"))
    inside = done(base, Register("m.c", "y", "y", "buffer"))
    gradient = with_row(
        base,
        "metas",
        base.tensor(at(base, "t")).impl,
        grad=base.tensor(at(base, "y")).impl,
    )
    inner = with_row(
        base,
        "tensors",
        at(base, "p"),
        inner=(("a", at(base, "y")), ("b", at(base, "t"))),
    )

    assert refused(inside, DeepcopyModule("m", "n")).rule == "deepcopy/not-a-leaf"
    assert refused(gradient, Deepcopy("t", "q")).rule == "deepcopy/not-a-leaf"
    assert refused(inner, Deepcopy("p", "q")).rule == "deepcopy/not-a-leaf"


def test_a_gradient_of_another_dtype() -> None:
    """The copy of a gradient must fit the copy of its tensor."""
    heap = done(module(), FillGrad("t"), CastData("t", "float64"))

    assert refused(heap, Deepcopy("t", "q")).rule == "grad/dtype"


def test_null_storage() -> None:
    """A plain tensor over a null storage is refused; a parameter crashes."""
    heap = done(module("TwoTensor"), SetData("t", "p"))

    assert refused(heap, Deepcopy("t", "q")).rule == "deepcopy/null-storage"
    plain = done(module(), Forward("scale", "p", "y"))
    null = with_row(plain, "impls", plain.tensor(at(plain, "p")).impl, storage=None)
    assert isinstance(step(null, Deepcopy("p", "q"), spec(NEW)), Undefined)


def test_a_wrapper_that_is_none() -> None:
    """A class over memory that it did not make is refused, one with memory declined."""
    heap = module("TwoTensor")
    torn = with_row(heap, "tensors", at(heap, "t"), cls="TwoTensor")
    other = with_row(heap, "tensors", at(heap, "p"), cls="Parameter", inner=())
    filled = done(heap, SetData("p", "t"))

    assert refused(torn, Deepcopy("t", "q")).rule == "deepcopy/new-empty-type"
    assert refused(other, Deepcopy("p", "q")).rule == "dispatch/no-handler"
    subclass = with_row(other, "tensors", at(heap, "p"), cls="SubTensor")
    assert refused(subclass, Deepcopy("p", "q")).rule == "dispatch/no-handler"
    outcome = step(filled, Deepcopy("p", "q"), spec(NEW))
    assert outcome == OutOfScope(
        "the copy of a wrapper with a storage has no dimension"
    )


@pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])
def test_a_refused_part(cls: str) -> None:
    """A module whose flat weights hold what cannot be copied cannot be either."""
    build = Builder()
    weights = {"weight_ih_l0": build.parameter(cls=cls)}
    build.name("m", "module", build.module(weights, cls="RNN"))
    build.name("p", "tensor", build.parameter(cls=cls))
    heap = done(build.heap(), Forward("scale", "p", "y"))
    listed = with_row(heap, "modules", 0, flat_weights=(at(heap, "y"), None))

    assert refused(listed, DeepcopyModule("m", "n")).rule == "deepcopy/not-a-leaf"


def test_an_uninitialized_parameter() -> None:
    """A parameter that is uninitialized is made as such, whatever it holds by now."""
    build = Builder()
    build.name("p", "tensor", build.parameter((), cls="UninitializedParameter"))
    build.name("t", "tensor", build.tensor((3, 4)))
    then = done(build.heap(), SetData("p", "t"), Deepcopy("p", "q"))

    assert values(then, "p") == (3, 4)
    assert values(then, "q") == ()
    assert then.tensor(at(then, "q")).cls == "UninitializedParameter"


def test_a_cycle_through_a_gradient() -> None:
    """A tensor that its own gradient leads back to is out of scope, not endless."""
    heap = done(module("TwoTensor", grad=False), SetGrad("m.weight.a", "m.weight"))

    outcome = step(heap, Deepcopy("m.weight.a", "copied"), spec(NEW))

    assert isinstance(outcome, OutOfScope)
    assert "leads back" in outcome.why


def test_integers_that_require_a_gradient_through_their_base() -> None:
    """The copy has no base, and is refused the flag."""
    view = View("t", "v", grad_mode=False)
    heap = done(module(), view, CastData("v", "int64"), RequiresGrad("t"))

    assert refused(heap, Deepcopy("v", "c")).rule == "requires-grad/dtype"
