"""Modules: what registers a tensor, what refuses to, and what stands there then."""

from typing import Literal

import pytest

from swapmodel.actions import (
    Action,
    Cast,
    Convert,
    DeepcopyModule,
    Forward,
    NameTensor,
    Register,
    SetFlag,
    Tie,
    Unregister,
)
from swapmodel.semantics.places import resolve
from swapmodel.semantics.tensors import is_buffer
from swapmodel.state.build import NN_BUFFER, Builder
from swapmodel.state.heap import Heap
from swapmodel.state.ids import ModuleId
from tests.heaps import at, done, refused, with_row

W, H = "weight_ih_l0", "weight_hh_l0"


def held() -> Heap:
    """A module with a parameter, two buffers, a child and names for nothing."""
    build = Builder()
    child = build.module({"weight": build.parameter((5, 6))})
    m = build.module(
        {"weight": build.parameter((1, 2)), "none": None},
        buffers={"running": build.tensor((3, 4)), "gone": None},
        children={"child": child},
    )
    build.name("m", "module", m)
    build.name("p", "tensor", build.parameter((7, 0)))
    build.name("t", "tensor", build.tensor((0, 0)))
    build.name("b2", "tensor", build.tensor((1, 0)))
    build.name("b", "tensor", build.tensor((1, 1), attributes=NN_BUFFER))
    return build.heap()


def rnn(**flags: bool) -> Heap:
    """An RNN with a parameter and a tensor beside it."""
    build = Builder(**flags)
    weights = {W: build.parameter((1, 2)), H: build.parameter((3, 4))}
    build.name("m", "module", build.module(weights, cls="RNN"))
    build.name("p", "tensor", build.parameter((5, 6)))
    build.name("t", "tensor", build.tensor((7, 0)))
    return build.heap()


HELD = held()


@pytest.mark.parametrize(
    "action",
    [
        Register("m", "new", "p"),
        Register("m", "weight", "p"),
        Register("m", "none", "p"),
        Register("m", "new", "t", "buffer"),
        Register("m", "new", "p", "buffer"),
        Register("m", "gone", "t", "buffer"),
        Register("m", "new", "t", "by hand"),
        Tie("m", "new", "p"),
        Tie("m", "weight", "p"),
        Tie("m", "running", "p"),
        Tie("m", "child", "p"),
        Tie("m", "running", "t"),
        Tie("m", "gone", "t"),
        Tie("m", "new", "b"),
    ],
    ids=repr,
)
def test_registered(action: Register | Tie) -> None:
    """What is registered stands under its name, as the same object."""
    then = done(HELD, action)

    assert at(then, f"m.{action.key}") == at(HELD, action.t)


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        (Register("m", "running", "p"), "module/name-taken"),
        (Register("m", "gone", "p"), "module/name-taken"),
        (Register("m", "child", "p"), "module/name-taken"),
        (Register("m", "new", "t"), "module/parameter-required"),
        (Register("m", "weight", "t", "buffer"), "module/name-taken"),
        (Register("m", "none", "t", "buffer"), "module/name-taken"),
        (Register("m", "child", "t", "buffer"), "module/name-taken"),
        (Tie("m", "weight", "t"), "module/parameter-expected"),
        (Tie("m", "none", "b"), "module/parameter-expected"),
        (Tie("m", "child", "t"), "module/child-expected"),
        (Unregister("m", "nothing"), "place/absent"),
    ],
    ids=repr,
)
def test_refused(action: Action, rule: str) -> None:
    """A refusal leaves the module as it was."""
    outcome = refused(HELD, action)

    assert outcome.rule == rule
    assert outcome.heap == HELD


def test_a_name_with_two_meanings() -> None:
    """A name that was put among the parameters by hand is registered where it is."""
    both = done(HELD, Register("m", "running", "p", "by hand"))

    assert at(both, "m.running") == at(both, "p")
    assert at(done(both, Register("m", "running", "p")), "m.running") == at(both, "p")
    again = done(both, Register("m", "running", "t", "buffer"))
    assert dict(again.modules[1].buffers)["running"] == at(both, "t")
    assert at(done(both, Unregister("m", "running")), "m.running") == at(
        HELD, "m.running"
    )


def test_a_plain_attribute() -> None:
    """What is no parameter and no buffer is kept, and no conversion looks at it."""
    heap = done(HELD, Tie("m", "new", "t"), Convert("m", Cast("float64")))

    assert at(heap, "m.new") == at(heap, "t")
    assert heap.impl_of(at(heap, "m.new")).dtype == "float32"
    assert resolve(done(heap, Unregister("m", "new")), "m.new") is None
    assert at(done(heap, Tie("m", "new", "b2")), "m.new") == at(heap, "b2")


@pytest.mark.parametrize("kind", ["parameter", "buffer"])
def test_a_name_that_a_plain_attribute_has(
    kind: Literal["parameter", "buffer"],
) -> None:
    """It is taken; but `m.key = parameter` removes what has it first."""
    heap = done(HELD, Tie("m", "new", "t"))

    assert refused(heap, Register("m", "new", "p", kind)).rule == "module/name-taken"
    assert refused(heap, Tie("m", "new", "b")).rule == "module/name-taken"
    tied = done(heap, Tie("m", "new", "p"))
    assert not tied.module(ModuleId(1)).attributes
    assert at(tied, "m.new") == at(heap, "p")


def test_a_plain_attribute_hides_a_parameter() -> None:
    """Python looks into `__dict__` first; deleting takes the parameter first."""
    heap = done(HELD, Tie("m", "new", "t"), Register("m", "new", "p", "by hand"))

    assert at(heap, "m.new") == at(heap, "t")
    heap = done(heap, Unregister("m", "new"))
    assert "new" not in dict(heap.module(ModuleId(1)).parameters)
    assert at(heap, "m.new") == at(heap, "t")


def test_a_flat_weight_that_is_a_plain_attribute() -> None:
    """The list is made of what stands under its names, registered or not."""
    heap = done(rnn(), Unregister("m", W), Tie("m", W, "t"))
    heap = done(heap, Convert("m", Cast("float64")))

    assert at(heap, "m._flat_weights[0]") == at(heap, "t")


@pytest.mark.parametrize("action", [Register("m", "new", "y"), Tie("m", "child", "y")])
def test_not_a_leaf(action: Register | Tie) -> None:
    """A non-leaf that says it is a parameter is refused; an attribute is gone then."""
    build = Builder()
    child = build.module()
    w = build.parameter(cls="TwoTensor")
    m = build.module({"weight": w}, children={"child": child})
    build.name("m", "module", m)
    build.name("t", "tensor", build.tensor(cls="TwoTensor"))
    y = done(build.heap(), Forward("scale", "m.weight", "y"))

    torn = with_row(y, "tensors", at(y, "y"), is_param=True)

    outcome = refused(torn, action)

    assert outcome.rule == "module/not-a-leaf"
    assert (resolve(outcome.heap, "m.child") is None) == isinstance(action, Tie)


def test_order_of_registration() -> None:
    """A name keeps its place; a new one comes last."""
    then = done(HELD, Register("m", "weight", "p"), Register("m", "new", "p"))

    assert [name for name, _ in then.modules[1].parameters] == ["weight", "none", "new"]


def test_unregister() -> None:
    """What is deleted is gone, be it a parameter, a buffer, a child or a gap."""
    for key in ("weight", "none", "running", "gone", "child"):
        then = done(HELD, Unregister("m", key))
        module = then.modules[1]

        names = [*module.parameters, *module.buffers, *module.children]
        assert key not in dict(names)


def test_buffers_say_what_they_are() -> None:
    """An entry of `__dict__` makes a buffer of a tensor, and a cast forgets it."""
    heap = done(HELD, Tie("m", "new", "b"), NameTensor("m.new", "kept"))
    then = done(heap, Convert("m", Cast("float64")))

    assert is_buffer(heap, at(heap, "m.new"))
    assert not is_buffer(heap, at(heap, "m.running"))
    assert not is_buffer(then, at(then, "m.new"))
    assert is_buffer(then, at(then, "kept"))


def test_flags() -> None:
    """A flag is set and the other one stays."""
    heap = done(HELD, SetFlag("swap"), SetFlag("overwrite"), SetFlag("swap", False))

    assert (heap.flags.swap, heap.flags.overwrite) == (False, True)


# -- Flat weights --------------------------------------------------------------------


def test_a_weight_is_listed_first() -> None:
    """An RNN lists what its attribute is set to, even if it is refused then."""
    heap = rnn()

    assert refused(heap, Tie("m", W, "t")).rule == "module/parameter-expected"
    then = refused(heap, Tie("m", W, "t")).heap
    assert at(then, "m._flat_weights[0]") == at(heap, "t")
    assert at(then, f"m.{W}") == at(heap, f"m.{W}")
    tied = done(heap, Tie("m", H, "p"))
    assert at(tied, "m._flat_weights[1]") == at(heap, "p")
    assert tied.module(tied.names[0][2]).flat_weights[0] == at(heap, f"m.{W}")  # type: ignore[arg-type]


def test_registering_lists_nothing() -> None:
    """Only setting the attribute keeps the list up to date."""
    heap = rnn()
    then = done(heap, Register("m", W, "p"), Unregister("m", H))

    assert at(then, "m._flat_weights[0]") == at(heap, f"m.{W}")
    assert at(then, "m._flat_weights[1]") == at(heap, f"m.{H}")


def test_a_copy_has_a_copy_of_each_plain_attribute() -> None:
    """One that cannot be copied stops the copy of the module."""
    heap = done(HELD, Tie("m", "new", "t"), DeepcopyModule("m", "d"))
    assert at(heap, "d.new") not in (at(heap, "t"), at(heap, "m.new"))
    heap = done(HELD, Forward("scale", "p", "y"), Tie("m", "new", "y"))

    assert refused(heap, DeepcopyModule("m", "d")).rule == "deepcopy/not-a-leaf"
