"""Functions of two tensors."""

from swapmodel.actions import Product
from swapmodel.outcomes import OutOfScope
from swapmodel.semantics.broadcast import devices, sizes
from swapmodel.semantics.payloads import Dense, Wrapped
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from tests.heaps import NEW, at, done, refused, spec, values


def test_sizes_must_fit() -> None:
    """One element is spread over any number, nothing else is."""
    b = Builder()
    for name, ones in (("none", ()), ("one", (2,)), ("two", (3, 4))):
        b.name(name, "tensor", b.tensor(ones))
    start = b.heap()

    assert values(done(start, Product("one", "two", "y")), "y") == (6, 8 % 8)
    assert values(done(start, Product("none", "one", "y")), "y") == ()
    assert refused(start, Product("none", "two", "y")).rule == "forward/size"


def test_each_handler_takes_its_own_wrappers_apart() -> None:
    """A wrapper of another class goes whole to each part."""
    b = Builder()
    b.name("t", "tensor", b.tensor(cls="TwoTensor"))
    b.name("u", "tensor", b.tensor(cls="OpaqueTensor"))
    heap = done(b.heap(), Product("t", "u", "y"))

    assert heap.tensor(at(heap, "y.a")).cls == "OpaqueTensor"


def test_the_first_clash_is_told() -> None:
    """Of two wrappers part by part, and of a plain tensor with each part."""
    two, none, there = (
        Dense("float32", device, length, None)
        for device, length in (("cpu", 2), ("cpu", 0), ("meta", 2))
    )
    wrapper = Wrapped("TwoTensor", (("a", two), ("b", none)))
    moved = Wrapped("TwoTensor", (("a", two), ("b", there)))

    assert sizes(wrapper, wrapper) is None
    assert sizes(two, wrapper) == (("a", 2), ("b", 0))
    assert sizes(wrapper, two) == (("a", 0), ("b", 2))
    assert devices(two, moved) == (("expected", "cpu"), ("device", "meta"))
    assert devices(moved, moved) is None


def test_sizes_on_meta_are_declined() -> None:
    """They are compared before devices are, and with texts of their own."""
    b = Builder()
    b.name("none", "tensor", b.tensor(()))
    b.name("two", "tensor", b.tensor((3, 4)))
    b.name("there", "tensor", b.tensor(None, device="meta"))

    for action in (Product("none", "there", "y"), Product("there", "none", "y")):
        assert isinstance(step(b.heap(), action, spec(NEW)), OutOfScope)
    assert refused(b.heap(), Product("two", "there", "y")).rule == "forward/device"
