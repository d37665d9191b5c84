"""`t.data = u`: what it checks, what it keeps and what it replaces."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.actions import (
    Action,
    Backward,
    CastData,
    Forward,
    RegisterHook,
    SetAttribute,
    SetData,
    TakeWeakref,
    View,
)
from swapmodel.outcomes import Refusal
from swapmodel.semantics.payloads import read
from swapmodel.semantics.set_data import compatible
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.dtypes import DIFFERENTIABLE, DTYPES
from swapmodel.state.heap import Heap
from swapmodel.state.record import field_names
from swapmodel.state.tensors import Tensor
from tests.heaps import LATE, NEW, NO_SWAP, at, done, module, refused, values

every_release = pytest.mark.parametrize("under", [NO_SWAP, LATE, NEW])


def pair(*, requires_grad: bool = True, **fields: Any) -> Heap:
    """A tensor `p` and another one, `u`, of the given dtype, device or values."""
    build = Builder()
    p = build.parameter(requires_grad=requires_grad)
    build.gradient(p, build.tensor())
    build.name("p", "tensor", p)
    build.name("u", "tensor", build.tensor(**fields))
    return build.heap()


# -- Checks ----------------------------------------------------------------------------


@every_release
@pytest.mark.parametrize("device", ["cpu", "cuda", "meta"])
@pytest.mark.parametrize("own", ["cpu", "cuda", "meta"])
def test_compatible_types(own: str, device: str, under: str) -> None:
    """Dense devices take each other's data, `meta` its own only."""
    heap = pair(device=device)
    i = heap.tensor(at(heap, "p")).impl
    impls = tuple(
        attrs.evolve(one, device=own) if n == i else one  # type: ignore[misc]
        for n, one in enumerate(heap.impls)
    )
    heap = attrs.evolve(heap, impls=impls)
    taken = "meta" not in (own, device) or own == device

    if taken:
        assert done(heap, SetData("p", "u"), under=under) != heap
    else:
        outcome = refused(heap, SetData("p", "u"), under)
        assert outcome.refusal == Refusal("set-data/compatible-type")
        assert outcome.heap == heap


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_differentiable_dtypes(dtype: str, requires_grad: bool) -> None:
    """What requires a gradient takes no integers, and is left as it was."""
    heap = pair(dtype=dtype, requires_grad=requires_grad)

    if dtype in DIFFERENTIABLE or not requires_grad:
        then = done(heap, SetData("p", "u"))
        assert then.impl_of(at(then, "p")).dtype == dtype
    else:
        outcome = refused(heap, SetData("p", "u"))
        assert outcome.rule == "set-data/differentiable-dtype"
        assert outcome.heap == heap


# -- Moves -----------------------------------------------------------------------------


def test_the_data_are_shared() -> None:
    """The target shares the storage of the source, which is left as it was."""
    heap = pair(values=(5,), dtype="float64", device="cuda")
    then = done(heap, SetData("p", "u"))
    p, u = then.impl_of(at(then, "p")), then.impl_of(at(then, "u"))

    assert values(then, "p") == (5,)
    assert p.storage == u.storage
    assert (p.dtype, p.device, p.length) == ("float64", "cuda", 1)
    assert u == heap.impl_of(at(heap, "u"))


PREPARED: tuple[Action, ...] = (
    RegisterHook("p", "h"),
    SetAttribute("p", "tag"),
    TakeWeakref("ReferenceType", "p", "r"),
    TakeWeakref("_WeakTensorRef", "p", "w"),
    View("p", "v"),
)


@pytest.mark.parametrize("name", field_names(Tensor))
def test_the_object_is_kept(name: str) -> None:
    """Identity, class, dict and listed hooks are those from before."""
    heap = done(pair(), *PREPARED)
    then = done(heap, SetData("p", "u"))
    p = at(heap, "p")

    assert at(then, "p") == p
    assert getattr(then.tensor(p), name) == getattr(heap.tensor(p), name)


def test_autograd_and_the_counter_are_kept() -> None:
    """Gradient, hooks that fire, weak references and version stay with the tensor."""
    heap = done(pair(), *PREPARED)
    then = done(heap, SetData("p", "u"))
    p = at(heap, "p")

    assert then.meta_of(p) == heap.meta_of(p)
    assert then.weakrefs == heap.weakrefs
    assert then.impl_of(p).counter == heap.impl_of(p).counter
    assert then.counters == heap.counters


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({}, True),
        ({"values": (5,)}, True),
        ({"dtype": "float64"}, False),
        ({"device": "cuda"}, False),
    ],
    ids=["same", "size", "dtype", "device"],
)
def test_the_accumulator(fields: dict[str, Any], kept: bool) -> None:
    """The node is forgotten for another dtype or device, and not for a size."""
    heap = done(pair(**fields), Forward("scale", "p", "y"))
    then = done(heap, SetData("p", "u"))
    was = heap.meta_of(at(heap, "p")).accumulator

    assert was is not None
    assert then.nodes == heap.nodes
    assert then.meta_of(at(then, "p")).accumulator == (was if kept else None)


def test_one_tensor_with_two_nodes() -> None:
    """After a cast the old graph adds to the same gradient, in its own dtype."""
    heap = done(
        pair(),
        Forward("scale", "p", "y"),
        CastData("p", "float64"),
        Forward("scale", "p", "z"),
        Backward("y"),
    )

    assert values(heap, "p.grad") == (4, 5)
    assert heap.impl_of(at(heap, "p.grad")).dtype == "float32"
    assert len([n for n in heap.nodes if n and n.variable is not None]) == 2


@every_release
def test_inner_tensors_are_left_behind(under: str) -> None:
    """A wrapper takes the outer dtype alone; the inner tensors stay as they were."""
    heap = done(module("TwoTensor"), CastData("p", "float64"), under=under)

    assert heap.impl_of(at(heap, "p")).dtype == "float64"
    assert heap.impl_of(at(heap, "p.a")).dtype == "float32"


def test_keys_that_intercept_are_kept() -> None:
    """Data of a plain tensor do not unwrap a wrapper, nor the reverse."""
    heap = done(module("TwoTensor"), SetData("p", "t"))
    other = done(module("TwoTensor"), SetData("t", "p"))

    assert heap.impl_of(at(heap, "p")).python_key
    assert not other.impl_of(at(other, "t")).python_key
    assert other.impl_of(at(other, "t")).storage is None


@given(
    place=st.sampled_from(("t", "p", "m.weight")), cls=st.sampled_from(("Parameter",))
)
def test_a_tensor_takes_its_own_data(place: str, cls: str) -> None:
    """`t.data = t` changes nothing."""
    heap = module(cls)

    assert done(heap, SetData(place, place)) == heap


def test_values_of_the_target() -> None:
    """The target reads as the source does."""
    heap = module()
    then = done(heap, SetData("p", "t"))

    assert read(then, at(then, "p")) == read(heap, at(heap, "t"))


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_wrapper_and_a_plain_tensor(device: str) -> None:
    """On the CPU they pass for each other; on `meta` their keys differ."""
    build = Builder()
    plain = build.tensor(None, device=device)
    other = build.tensor(None, device=device, cls="TwoTensor")
    draft = Draft(build.heap())

    for one, two in ((plain, other), (other, plain)):
        assert compatible(draft, one, two) == (device == "cpu")
        assert compatible(draft, one, one)


def test_a_view_of_what_requires_a_gradient() -> None:
    """It requires one too, though no graph knows it: integers are refused."""
    b = Builder()
    b.name("p", "tensor", b.parameter())
    b.name("i", "tensor", b.tensor(dtype="int64"))
    heap = done(b.heap(), View("p", "v", grad_mode=False))

    assert refused(heap, SetData("v", "i")).rule == "set-data/differentiable-dtype"
