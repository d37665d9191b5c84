"""Tensors: made, aliased, written, and made parameters of."""

from collections.abc import Iterator

import attrs
import pytest

from swapmodel.actions import SwapTensors, TakeWeakref
from swapmodel.outcomes import Refusal
from swapmodel.semantics import tensors
from swapmodel.semantics.payloads import Dense, Payload, Wrapped, read
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId
from swapmodel.state.record import field_names
from swapmodel.state.tensors import TensorImpl
from tests.heaps import LATE, at, done, module, refused, with_row

PLAIN = Dense("float64", "cpu", 2, (3, 5))
WRAPPED = Wrapped("TwoTensor", (("a", PLAIN), ("b", Dense("float64", "cpu", 2, None))))

every_class = pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])


def innermost(draft: Draft, t: TensorId) -> Iterator[TensorId]:
    """A plain tensor, or the inner tensors of a wrapper."""
    inner = draft.tensor(t).inner
    yield from (one for _, one in inner) if inner else (t,)


def torn() -> Heap:
    """Two tensors of which torch 2.3 exchanged the class and not the impl."""
    return refused(
        done(module("TwoTensor"), TakeWeakref("_WeakTensorRef", "p", "r")),
        SwapTensors("p", "t"),
        LATE,
    ).heap


@pytest.mark.parametrize("payload", [PLAIN, WRAPPED], ids=["plain", "wrapper"])
def test_a_new_tensor(payload: Payload) -> None:
    """A tensor made from a payload holds it, outside any graph."""
    draft = Draft(module())
    t = tensors.make(draft, payload)
    impl = draft.impl_of(t)

    assert read(draft, t) == payload
    assert (impl.dtype, impl.device, impl.length) == ("float64", "cpu", 2)
    assert impl.pyobj == t
    assert (impl.storage is None) == impl.python_key == isinstance(payload, Wrapped)
    assert not draft.meta_of(t).requires_grad


def test_new_tensors_share_nothing() -> None:
    """Each tensor that is made has storages and counters of its own."""
    draft = Draft(module())
    made = [tensors.make(draft, WRAPPED) for _ in range(2)]
    inner = [one for t in made for one in innermost(draft, t)]
    impls = [draft.impl_of(t) for t in (*made, *inner)]

    assert len({impl.counter for impl in impls}) == 6
    assert len({draft.impl_of(t).storage for t in inner}) == 4


@every_class
@pytest.mark.parametrize("how", ["detach", "data"])
def test_aliases(cls: str, how: str) -> None:
    """`detach()` and `.data` share the storage and leave the graph behind."""
    draft = Draft(module(cls))
    p = at(module(cls), "p")
    t = getattr(tensors, how)(draft, p)
    pairs = zip(innermost(draft, p), innermost(draft, t), strict=True)

    assert t != p
    assert read(draft, t) == read(draft, p)
    assert draft.tensor(t).cls == ("Tensor" if cls == "Parameter" else cls)
    assert not draft.meta_of(t).requires_grad
    for one, other in pairs:
        assert draft.impl_of(one).storage == draft.impl_of(other).storage


@every_class
def test_only_detach_shares_the_counter(cls: str) -> None:
    """A write through `.data` is not counted on the tensor itself."""
    draft = Draft(module(cls))
    p = at(module(cls), "p")
    detached, data = tensors.detach(draft, p), tensors.data(draft, p)
    assert isinstance(detached, int)
    assert isinstance(data, int)

    assert draft.impl_of(detached).counter == draft.impl_of(p).counter
    assert draft.impl_of(data).counter != draft.impl_of(p).counter


def test_inner_aliases_count_for_themselves() -> None:
    """A wrapper's alias has inner tensors with counters of their own."""
    draft = Draft(module("TwoTensor"))
    p = at(module("TwoTensor"), "p")
    alias = tensors.detach(draft, p)
    assert isinstance(alias, int)
    counters = [
        draft.impl_of(one).counter
        for t in (p, alias)
        for one in innermost(draft, TensorId(t))
    ]

    assert len(set(counters)) == 4


def test_an_alias_keeps_its_part() -> None:
    """An alias of a part of a storage is the same part."""
    heap = module()
    heap = with_row(heap, "impls", heap.tensor(at(heap, "t")).impl, offset=1, length=1)
    draft = Draft(heap)
    alias = tensors.detach(draft, at(heap, "t"))
    assert isinstance(alias, int)

    assert read(draft, alias) == Dense("float32", "cpu", 1, (6,))


def test_an_alias_of_a_wrapper_has_no_storage() -> None:
    """A wrapper that `t.data = u` gave a storage is aliased without it."""
    heap = module("TwoTensor")
    heap = with_row(heap, "impls", heap.tensor(at(heap, "p")).impl, storage=0, offset=1)
    draft = Draft(heap)
    alias = tensors.detach(draft, at(heap, "p"))
    assert isinstance(alias, int)
    impl = draft.impl_of(alias)

    assert (impl.storage, impl.offset) == (None, 0)


def test_what_cannot_be_dispatched() -> None:
    """Neither an alias nor a parameter is made of what nobody handles."""
    heap = torn()
    draft, p = Draft(heap), at(heap, "p")

    assert [
        tensors.detach(draft, p),
        tensors.data(draft, p),
        tensors.make_parameter(draft, p, requires_grad=True),
    ] == [Refusal("dispatch/no-handler")] * 3
    assert draft.sealed() == heap


# -- Parameters ------------------------------------------------------------------------


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize(
    ("cls", "place", "made"),
    [
        ("Parameter", "t", "Parameter"),
        ("Parameter", "p", "Parameter"),
        ("TwoTensor", "p", "TwoTensor"),
    ],
)
def test_making_a_parameter(
    cls: str, place: str, made: str, requires_grad: bool
) -> None:
    """A parameter is an alias with the class that a module accepts."""
    heap = module(cls)
    draft = Draft(heap)
    draft.edit_tensor(at(heap, place)).attributes = (("tag", 1),)
    t = tensors.make_parameter(draft, at(heap, place), requires_grad=requires_grad)
    assert isinstance(t, int)

    assert draft.tensor(t).cls == made
    assert draft.tensor(t).attributes == ()
    assert draft.meta_of(t).requires_grad == requires_grad
    assert tensors.is_parameter(draft, t)
    assert read(draft, t) == read(draft, at(heap, place))


def test_detach_gives_another_class() -> None:
    """No parameter is made of a class whose `detach` gives a plain tensor."""
    heap = with_row(module(), "tensors", at(module(), "t"), cls="TwoTensor")
    made = tensors.make_parameter(Draft(heap), at(heap, "t"), requires_grad=False)

    facts = (("found", "Tensor"),)
    assert made == Refusal("parameter/detach-type", "TwoTensor", facts)


def test_what_is_a_parameter() -> None:
    """A class or an entry of the dict makes a parameter; a plain tensor is none."""
    plain, wrapper = module(), module("TwoTensor")

    assert tensors.is_parameter(plain, at(plain, "p"))
    assert tensors.is_parameter(wrapper, at(wrapper, "p"))
    assert not tensors.is_parameter(plain, at(plain, "t"))
    assert not tensors.is_parameter(wrapper, at(wrapper, "p.a"))


COPIED = {"storage", "offset", "length", "dtype", "device"}


@pytest.mark.parametrize("name", field_names(TensorImpl))
def test_copying_an_impl(name: str) -> None:
    """The data move; counter, object and the key that intercepts stay."""
    heap = module("TwoTensor")
    into, source = (heap.tensor(at(heap, place)).impl for place in ("p", "t"))
    heap = with_row(
        heap, "impls", source, dtype="float64", device="cuda", offset=1, length=1
    )
    draft = Draft(heap)
    tensors.move_data(draft, into, source)
    was, other, now = (
        getattr(one, name)
        for one in (heap.impl(into), heap.impl(source), draft.impl(into))
    )

    assert was != other
    assert now == (other if name in COPIED else was)
    assert attrs.asdict(draft.impl(source)) == attrs.asdict(heap.impl(source))  # type: ignore[arg-type]
