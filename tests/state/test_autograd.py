"""Autograd's records: what is shared, and what a ghost is."""

from swapmodel.actions import Cast, Convert, Forward
from swapmodel.state.autograd import NO_META, AutogradMeta
from tests.heaps import NEW, at, done, module


def test_most_tensors_share_their_metadata() -> None:
    """What autograd never met has the metadata of a new tensor, the same for all."""
    heap = done(module(swap=True, grad=False), Convert("m", Cast("float64")), under=NEW)

    assert AutogradMeta() == NO_META
    assert heap.meta_of(at(heap, "t")) == NO_META
    assert heap.meta_of(at(heap, "m.weight")) != NO_META


def test_a_saved_tensor_remembers_its_values() -> None:
    """The ghost of a saved tensor holds what it was, innermost tensors in order."""
    plain = done(module(), Forward("square", "m.weight", "y"))
    wrapper = done(module("TwoTensor"), Forward("square", "p", "y"))

    assert plain.nodes[1].saved[0].ghost_values == ((1, 2),)
    assert wrapper.nodes[1].saved[0].ghost_values == ((3, 4), (3, 4))
