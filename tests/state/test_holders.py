"""Holders: names for tensors, in the order in which they were registered."""

from swapmodel.actions import Cast, Convert
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.events import Converted
from swapmodel.state.holders import Module
from swapmodel.state.ids import TensorId
from tests.heaps import NEW, spec


def test_the_order_of_registration_tells_modules_apart() -> None:
    """Two modules that list the same tensors in another order are not equal."""
    one, other = ("a", TensorId(0)), ("b", TensorId(1))

    assert Module(parameters=(one, other)) != Module(parameters=(other, one))


def test_a_conversion_follows_the_order_of_registration() -> None:
    """Parameters are converted as they were registered, not as they are called."""
    build = Builder()
    z, a = build.parameter(), build.parameter()
    build.name("m", "module", build.module({"z": z, "a": a, "none": None}))
    outcome = step(build.heap(), Convert("m", Cast("float64")), spec(NEW))
    told = outcome.events

    assert [z, a] == [one.tensor for one in told if isinstance(one, Converted)]
