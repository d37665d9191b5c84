"""Claims that compare the heaps around a step."""

import attrs
import pytest

from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    CastData,
    ClearGrad,
    Convert,
    Forward,
    SetAttribute,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.invariants.of_steps import (
    atomic_tensor,
    use_count,
    values,
)
from swapmodel.invariants.violation import Step, Violation
from swapmodel.outcomes import Done, Refusal, Refused
from swapmodel.state.build import Builder
from tests.heaps import LATE, NEW, NO_SWAP, at, done, module, spec, with_row
from tests.invariants.examples import DOUBLE, NOTHING, SWAP, last_step, violations

# -- Identity and attributes -----------------------------------------------------------


def test_what_a_conversion_is_about() -> None:
    """Only what belongs to the converted module is asked for."""
    build = Builder(overwrite=True)
    child = build.module({"weight": build.parameter()})
    m = build.module({"weight": build.parameter()}, children={"child": child})
    build.name("m", "module", m)
    build.name("p", "tensor", build.parameter())
    found = violations("identity", build.heap(), Convert("m.child", Cast("float64")))

    assert [one.place for one in found] == ["m.child.weight"]


def test_a_refused_conversion_keeps_identities() -> None:
    """A registration that was not reached refers to the same object."""
    heap = done(module(swap=True), TakeWeakref("ReferenceType", "m.weight", "r"))

    assert violations("identity", heap, DOUBLE) == []


def test_every_attribute_is_asked_for() -> None:
    """Each entry that is lost is reported by its name, slots as well."""
    heap = done(
        module(swap=True),
        SetAttribute("m.weight", "tag", 2),
        SetAttribute("m.weight", "note", 1),
    )
    heap = with_row(heap, "tensors", at(heap, "m.weight"), slots=(("slot", 3),))
    found = violations("attributes", heap, NOTHING)

    assert [one.was for one in found] == [
        "m.weight.note is 1",
        "m.weight.tag is 2",
        "m.weight.slot is 3",
    ]


def test_attributes_of_a_buffer() -> None:
    """A buffer that is replaced loses what the user set on it."""
    heap = done(module(buffer=True), SetAttribute("m.running", "tag"))

    assert [one.path for one in violations("attributes", heap, DOUBLE)] == ["replace"]
    assert violations("attributes", heap, NOTHING) == []


def test_attributes_of_a_lost_tensor() -> None:
    """A gradient that is gone with its attributes is another invariant's."""
    heap = done(
        module(swap=True),
        SetAttribute("m.weight.grad", "tag"),
        TakeWeakref("ReferenceType", "m.weight.grad", "r"),
    )

    assert violations("attributes", heap, DOUBLE) == []


# -- Values ----------------------------------------------------------------------------


@pytest.mark.parametrize("action", [SWAP, SwapTensors("t", "p")])
def test_a_swap_exchanges_the_values(action: Action) -> None:
    """Both operands of a swap are asked for; a lost exchange shows on both."""
    one = last_step(module(), (action,), NEW)
    nothing = attrs.evolve(one, outcome=Done(one.before))

    assert [v.place for v in _values(nothing)] == [action.t1, action.t2]  # type: ignore[union-attr]
    assert _values(one) == []


def _values(step: Step) -> list[Violation]:
    return list(values(step))


def test_a_wrong_value_is_told() -> None:
    """A violation says what was promised and what is there."""
    (weight, _) = violations("values", module("TwoTensor"), DOUBLE, under=NO_SWAP)

    assert weight.was == "a: float64 [1, 2], b: float64 [1, 2]"
    assert weight.now == "a: float32 [1, 2], b: float32 [1, 2]"


def test_nothing_is_promised_of_a_refusal() -> None:
    """What was refused promises no values."""
    assert violations("values", module(), View("p", "v"), SWAP) == []


def test_nothing_is_promised_of_what_cannot_be_read() -> None:
    """Data that nobody can read promise nothing to who takes them."""
    heap = done(module("TwoTensor"), SetData("t", "p"))

    assert violations("values", heap, SetData("p", "t")) == []
    assert violations("values", heap, SetData("t", "t")) == []
    assert violations("values", heap, CastData("t", "float32")) == []


def test_a_place_that_is_gone() -> None:
    """Nothing is compared where nothing stands any more."""
    heap = module()
    then = done(heap, ClearGrad("m.weight"))
    step = Step(heap, SetData("m.weight.grad", "t"), Done(then), spec(NEW))

    assert _values(step) == []


# -- Atomicity -------------------------------------------------------------------------


def test_what_a_torn_tensor_lost() -> None:
    """Each property that a refused operation changed is told."""
    found = violations(
        "atomic-tensor",
        done(module("TwoTensor"), SetAttribute("p", "tag"), View("p", "v")),
        SWAP,
        under=LATE,
    )

    assert [one.was for one in found if one.place == "p"] == [
        "class of p is TwoTensor",
        "attributes of p is {'tag': 1}",
        "inner tensors of p is ['a', 'b']",
        "content of p is a: float32 [3, 4], b: float32 [3, 4]",
    ]
    assert {one.place for one in found} == {"p", "t"}


@pytest.mark.parametrize("name", ["dtype", "requires_grad"])
def test_what_no_release_tears(name: str) -> None:
    """Dtype and `requires_grad` are asked for as well."""
    heap = module()
    i = heap.tensor(at(heap, "p")).impl
    column = "impls" if name == "dtype" else "metas"
    changed = {"dtype": "float64", "requires_grad": False}[name]
    then = with_row(heap, column, i, **{name: changed})
    step = Step(heap, SWAP, Refused(then, Refusal("swap/same-slots")), spec(NEW))

    assert f"{name} of p is" in " ".join(one.was for one in atomic_tensor(step))


@pytest.mark.parametrize("times", [1, 2])
def test_a_tie_is_not_one_operation(times: int) -> None:
    """A tie that is refused the second time was converted once; nobody tore it."""
    one = last_step(module(), (DOUBLE,), NEW)
    events = (one.converted[0],) * times
    outcome = Refused(one.then, Refusal("swap/no-weakrefs", "t1"), events)
    found = list(atomic_tensor(attrs.evolve(one, outcome=outcome)))

    assert (found == []) == (times == 2)


def test_half_a_module() -> None:
    """A module is reported where it was converted before the refusal."""
    build = Builder(swap=True)
    parameters = {name: build.parameter() for name in ("one", "two", "three")}
    build.name("m", "module", build.module({**parameters}))
    heap = done(build.heap(), TakeWeakref("ReferenceType", "m.two", "r"))
    (found,) = violations("atomic-module", heap, DOUBLE)

    assert (found.place, found.was) == ("m.one", "content of m.one is float32 [1, 2]")


def test_a_lost_gradient() -> None:
    """A gradient that was there and is gone is told as an object that is none."""
    heap = done(module(swap=True), TakeWeakref("ReferenceType", "m.weight.grad", "r"))
    found = violations("atomic-module", heap, DOUBLE)

    assert [(one.place, one.now) for one in found] == [
        ("m.weight", "float64 [1, 2]"),
        ("m.weight.grad", "gone"),
    ]


# -- Use counts ------------------------------------------------------------------------


def test_owners_that_are_lost() -> None:
    """An impl whose owners differ after a swap is reported."""
    one = last_step(module(), (Forward("scale", "p", "y"), SWAP), NEW)
    nodes = tuple(attrs.evolve(node, variable=None) for node in one.then.nodes)  # type: ignore[misc]
    broken = attrs.evolve(one, outcome=Done(attrs.evolve(one.then, nodes=nodes)))
    found = list(use_count(broken))

    assert list(use_count(one)) == []
    assert [(two.place, two.path) for two in found] == [("p", "direct")]
    assert "AccumulateGrad" in found[0].was
    assert "AccumulateGrad" not in found[0].now


@pytest.mark.parametrize(
    ("program", "rule", "broken"),
    [
        ((), "swap/few-owners", True),
        ((Forward("scale", "p", "y"),), "swap/few-owners", True),
        ((View("p", "v"),), "swap/few-owners", False),
        ((), "swap/one-owner", True),
        ((Forward("scale", "p", "y"),), "swap/one-owner", False),
        ((), "swap/no-weakrefs", False),
    ],
)
def test_a_check_that_refuses_too_much(
    program: tuple[Action, ...], rule: str, broken: bool
) -> None:
    """A rule about owners may not refuse the owners that it lets pass."""
    heap = done(module(), *program)
    outcome = Refused(heap, Refusal(rule, "t1"))
    found = list(use_count(Step(heap, SWAP, outcome, spec(NEW))))

    assert [one.place for one in found] == ["p"] * broken


def test_the_operand_that_was_refused() -> None:
    """The owners of the operand that the refusal names are looked at."""
    heap = done(module(), View("p", "v"))
    outcome = Refused(heap, Refusal("swap/few-owners", "t2"))
    found = list(use_count(Step(heap, SWAP, outcome, spec(NEW))))

    assert [one.place for one in found] == ["t"]


def test_an_operand_that_is_not_there() -> None:
    """A place at which nothing stood has no owners to compare."""
    assert violations("use-count", module(), SwapTensors("p", "nowhere")) == []
    assert violations("use-count", module(), Backward("p")) == []
    assert violations("values", module(), CastData("nowhere", "float64")) == []


def test_an_operand_with_two_names() -> None:
    """A tensor that is named behind a tie is asked for where it is listed."""
    build = Builder()
    w = build.parameter(cls="TwoTensor")
    build.gradient(w, build.tensor(cls="TwoTensor"))
    build.name("m", "module", build.module({"one": w, "two": w}))
    build.name("t", "tensor", build.tensor())
    (found,) = violations("values", build.heap(), SetData("m.two.grad", "t"))

    assert (found.place, found.kind) == ("m.one.grad", "gradient")
