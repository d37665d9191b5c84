"""Detaching and making parameters, class by class."""

import pytest

from swapmodel.actions import Backward, Cast, CastData, Convert, Forward
from swapmodel.outcomes import OutOfScope, Refusal
from swapmodel.semantics import payloads, tensors
from swapmodel.semantics.payloads import Dense, Payload, Wrapped
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.classes import CLASSES
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from tests.heaps import NEW, at, done, module, refused, spec

DETACHED = {
    "Parameter": "Tensor",
    "MyParameter": "Tensor",
    "SlottedTensor": "Tensor",
    "TwoTensor": "TwoTensor",
    "OpaqueTensor": "OpaqueTensor",
    "FixedTensor": "FixedTensor",
    "UnwrappingTensor": "Tensor",
    "SubTensor": "SubTensor",
}
"""The class of what `detach()` gives."""


@pytest.mark.parametrize(("cls", "expected"), DETACHED.items())
def test_detach(cls: str, expected: str) -> None:
    """The class of what is detached, which shares the version counter."""
    b = Builder()
    t = b.parameter((1, 2), cls=cls)
    draft = Draft(b.heap())
    made = tensors.detach(draft, t)

    assert isinstance(made, int)
    assert draft.tensor(made).cls == expected
    assert draft.impl_of(made).counter == draft.impl_of(t).counter


@pytest.mark.parametrize(("cls", "expected"), DETACHED.items())
def test_data(cls: str, expected: str) -> None:
    """`t.data` is of the class that `detach()` gives, with a counter of its own."""
    b = Builder()
    t = b.parameter((1, 2), cls=cls)
    draft = Draft(b.heap())
    made = tensors.data(draft, t)

    assert isinstance(made, int)
    assert draft.tensor(made).cls == expected
    assert draft.impl_of(made).counter != draft.impl_of(t).counter


@pytest.mark.parametrize("cls", sorted(CLASSES))
def test_make_parameter(cls: str) -> None:
    """`Parameter(t)` takes what detaches to its own class, and plain tensors."""
    b = Builder()
    t = b.tensor((), cls=cls) if cls == "UninitializedParameter" else b.tensor(cls=cls)
    draft = Draft(b.heap())
    made = tensors.make_parameter(draft, t, requires_grad=True)

    if CLASSES[cls].plain:
        assert isinstance(made, int)
        assert draft.tensor(made).cls == "Parameter"
    elif CLASSES[cls].uninitialized:
        assert made == Refusal("class/uninitialized", cls)
    elif DETACHED.get(cls, "Tensor") == cls:
        assert isinstance(made, int)
        assert draft.tensor(made).is_param
    else:
        facts = (("found", DETACHED.get(cls, "Tensor")),)
        assert made == Refusal("parameter/detach-type", cls, facts)


# -- Gradients of another class ------------------------------------------------------


def test_a_stolen_gradient_is_detached() -> None:
    """The first gradient is what detaching it gives: here an inner tensor."""
    b = Builder()
    b.name("p", "tensor", b.parameter((1, 2), cls="UnwrappingTensor"))
    heap = done(b.heap(), Forward("scale", "p", "y"), Backward("y"))

    assert heap.tensor(at(heap, "p.grad")).cls == "Tensor"


def test_a_plain_gradient_spreads_over_a_wrapper() -> None:
    """A plain gradient is added to every inner tensor of a wrapper."""
    b = Builder()
    p = b.parameter((1, 2))
    b.gradient(p, b.tensor((1, 2), cls="TwoTensor"))
    b.name("p", "tensor", p)
    heap = done(b.heap(), Forward("scale", "p", "y"), Backward("y"))
    payload = payloads.read(heap, at(heap, "p.grad"))

    assert isinstance(payload, Wrapped)
    assert payloads.leaves(payload) == ((4, 5), (4, 5))


def test_a_wrapper_gradient_of_another_class() -> None:
    """What a handler makes of a wrapper that it does not know is its own affair."""
    b = Builder()
    p = b.parameter((1, 2), cls="TwoTensor")
    b.gradient(p, b.tensor((1, 2), cls="OpaqueTensor"))
    b.name("p", "tensor", p)
    heap = done(b.heap(), Forward("scale", "p", "y"))
    outcome = step(heap, Backward("y"), spec(NEW))

    assert isinstance(outcome, OutOfScope)


def test_a_plain_gradient_takes_each_part_of_a_wrapper() -> None:
    """Our handler adds each inner gradient to the plain one in turn."""
    b = Builder()
    p = b.parameter((1, 2), cls="TwoTensor")
    b.gradient(p, b.tensor((1, 1)))
    b.name("p", "tensor", p)
    heap = done(b.heap(), Forward("scale", "p", "y"), Backward("y"))
    grad = at(heap, "p.grad")

    assert payloads.leaves(read(heap, "p.grad")) == ((7, 7),)
    assert heap.version(heap.impl_of(grad).counter) == 1


def read(heap: Heap, place: str) -> Payload:
    """What stands at a place, as a payload."""
    payload = payloads.read(heap, at(heap, place))
    assert isinstance(payload, Dense | Wrapped)
    return payload


def mixed(b: Builder, a: str, other: str) -> Wrapped:
    """A wrapper over two dtypes, as a payload."""
    inner = {"a": b.tensor(dtype=a), "b": b.tensor(dtype=other)}
    t = b.tensor(cls="TwoTensor", inner=inner)
    payload = payloads.read(b.heap(), t)
    assert isinstance(payload, Wrapped)
    return payload


def test_integers_are_raised_to_a_floating_power() -> None:
    """Backward of a square reads integers as numbers of the default dtype."""
    value = payloads.inexact(mixed(Builder(), "float64", "int64"))

    assert [one.dtype for _, one in value.inner if isinstance(one, Dense)] == [  # type: ignore[union-attr]
        "float64",
        "float32",
    ]


def test_floating_gradients_do_not_fit_into_integers() -> None:
    """What stands before the integers is added to, the rest is refused."""
    b = Builder()
    inner = {"a": b.tensor((1, 2)), "b": b.tensor((1, 2), dtype="int64")}
    grads = {"a": b.tensor((1, 1)), "b": b.tensor((1, 1), dtype="int64")}
    p = b.parameter(cls="TwoTensor", inner=inner)
    b.gradient(p, b.tensor(cls="TwoTensor", inner=grads))
    b.name("p", "tensor", p)
    outcome = refused(done(b.heap(), Forward("square", "p", "y")), Backward("y"))

    assert outcome.rule == "add/dtype"
    assert payloads.leaves(read(outcome.heap, "p.grad")) == ((3, 5), (1, 1))


def test_a_wrapper_over_given_tensors_takes_its_form_from_the_first() -> None:
    """The outside of a wrapper says what its first inner tensor says."""
    b = Builder()
    inner = {"a": b.tensor((1,), dtype="int64"), "b": b.tensor((2,))}
    t = b.tensor(cls="TwoTensor", inner=inner)
    impl = b.heap().impl_of(t)

    assert (impl.dtype, impl.length, impl.storage) == ("int64", 1, None)


def test_a_cast_that_is_ignored() -> None:
    """It gives a copy of the dtype that is there, however often it is asked for."""
    heap = done(module("FixedTensor"), Convert("m", Cast("float64")))

    assert heap.impl_of(at(heap, "m.weight")).dtype == "float32"
    assert heap.impl_of(at(heap, "m.weight.a")).dtype == "float32"
    assert at(heap, "m.weight.a") != at(module("FixedTensor"), "m.weight.a")


def test_a_gradient_that_the_caller_holds_is_cast_all_the_same() -> None:
    """It is copied into a new tensor, which asks no class for a cast."""
    heap = done(module("FixedTensor", grad=False), CastData("m.weight.b", "float64"))
    heap = done(heap, Backward("m.weight"))

    assert heap.impl_of(at(heap, "m.weight.grad.b")).dtype == "float32"
