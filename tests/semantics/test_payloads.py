"""Payloads: what tensors hold, and the algebra on it."""

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.actions import (
    Backward,
    Forward,
    NameTensor,
    SetData,
    SwapTensors,
    View,
)
from swapmodel.outcomes import Crash, Refusal, Unmodelled
from swapmodel.semantics.broadcast import combine
from swapmodel.semantics.payloads import (
    MODULUS,
    SCALE,
    Dense,
    Payload,
    Wrapped,
    add,
    apply,
    cast,
    first,
    leaves,
    ones,
    outline,
    promote,
    read,
)
from swapmodel.semantics.step import step
from swapmodel.state.build import Builder
from swapmodel.state.dtypes import DIFFERENTIABLE, DTYPES
from swapmodel.state.heap import Heap
from tests.heaps import NEW, at, done, module, spec, with_row

dense = st.builds(
    Dense,
    st.sampled_from(("float16", "float32", "float64")),
    st.just("cpu"),
    st.just(2),
    st.none() | st.tuples(st.integers(0, 7), st.integers(0, 7)),
)
wrapped = st.builds(
    lambda a, b: Wrapped("TwoTensor", (("a", a), ("b", b))), dense, dense
)
payloads = dense | wrapped


def plain(*values: int, dtype: str = "float32") -> Dense:
    """What a plain tensor on the CPU holds."""
    return Dense(dtype, "cpu", len(values), values)


# -- Reading ---------------------------------------------------------------------------


def test_reading() -> None:
    """A plain tensor holds its elements, a wrapper what its inner tensors hold."""
    heap = module("TwoTensor")

    assert read(heap, at(heap, "t")) == plain(5, 6)
    assert read(heap, at(heap, "p")) == Wrapped(
        "TwoTensor", (("a", plain(3, 4)), ("b", plain(3, 4)))
    )


def test_reading_a_part_of_a_storage() -> None:
    """A tensor holds what lies between its offset and its end."""
    heap = module()
    t = heap.tensor(at(heap, "t")).impl
    part = with_row(heap, "impls", t, offset=1, length=1)

    assert read(part, at(part, "t")) == plain(6)


def test_reading_what_nobody_knows() -> None:
    """Undefined values are read as undefined, without a refusal."""
    build = Builder()
    t = build.tensor(None, dtype="float16", device="meta")

    assert read(build.heap(), t) == Dense("float16", "meta", 2, None)


def unhandled() -> Heap:
    """A plain tensor `t` over a wrapper's impl, as a torn swap leaves it."""
    heap = module("TwoTensor")
    return with_row(heap, "tensors", at(heap, "p"), cls="Tensor", inner=())


def test_nobody_handles_what_is_intercepted() -> None:
    """An intercepted tensor whose class has no handler is refused."""
    heap = unhandled()

    assert read(heap, at(heap, "p")) == Refusal("dispatch/no-handler")


def test_an_inner_tensor_that_cannot_be_read() -> None:
    """A wrapper is refused when one of its inner tensors is."""
    heap = unhandled()
    w = at(heap, "m.weight")
    (name, _), other = heap.tensor(w).inner
    heap = with_row(heap, "tensors", w, inner=((name, at(heap, "p")), other))

    assert read(heap, w) == Refusal("dispatch/no-handler")


def test_a_null_storage() -> None:
    """A plain tensor that took a wrapper's null storage crashes whoever reads it."""
    heap = done(module("TwoTensor"), SetData("t", "p"))

    assert read(heap, at(heap, "t")) == Crash("a null storage is read")


# -- Functions -------------------------------------------------------------------------


def test_a_wrapper_takes_its_own_from_the_first_inner_tensor() -> None:
    """The first innermost tensor says what a new wrapper's own dtype is."""
    inner = Wrapped("TwoTensor", (("a", plain(1, 2)), ("b", plain(3, 4))))
    outer = Wrapped("TwoTensor", (("a", inner), ("b", plain(5, 6, dtype="float64"))))

    assert first(outer) == plain(1, 2)
    assert first(plain(7)) == plain(7)
    assert leaves(outer) == ((1, 2), (3, 4), (5, 6))


@given(one=payloads)
def test_functions_keep_the_kind(one: Payload) -> None:
    """A function of a tensor has its dtypes, its size and its inner tensors."""
    assert apply(one, lambda x: x) == one
    assert first(apply(one, lambda x: x + 1)).dtype == first(one).dtype


@given(one=payloads, function=st.sampled_from((lambda x: x * SCALE, lambda x: x + 5)))
def test_values_stay_small(one: Payload, function: Callable[[int], int]) -> None:
    """Values are taken modulo 8; what is undefined stays undefined."""
    for was, now in zip(leaves(one), leaves(apply(one, function)), strict=True):
        if was is None:
            assert now is None
        else:
            assert now == tuple(function(x) % MODULUS for x in was)


def test_scale_loses_no_value() -> None:
    """Scaling tells all values apart, so that a lost scaling shows."""
    assert sorted(x * SCALE % MODULUS for x in range(MODULUS)) == list(range(MODULUS))


@given(one=payloads, dtype=st.sampled_from(("float16", "float64")))
def test_a_cast_keeps_the_values(one: Payload, dtype: str) -> None:
    """A cast changes the dtype of every innermost tensor and no value."""
    made = cast(one, dtype)

    assert leaves(made) == leaves(one)
    assert cast(made, dtype) == made
    parts = [made] if isinstance(made, Dense) else [part for _, part in made.inner]
    assert {part.dtype for part in parts if isinstance(part, Dense)} == {dtype}


@given(one=payloads)
def test_ones(one: Payload) -> None:
    """`torch.ones_like` keeps everything but the values."""
    known = [values for values in leaves(ones(one)) if values is not None]

    assert set(known) <= {(1, 1)}
    assert first(ones(one)).dtype == first(one).dtype


@given(one=payloads, other=payloads)
def test_sums_commute(one: Payload, other: Payload) -> None:
    """It does not matter which gradient arrives first."""
    assert combine(one, other, add) == combine(other, one, add)


@given(one=dense, other=wrapped)
def test_a_wrapper_spreads_over_a_plain_tensor(one: Dense, other: Wrapped) -> None:
    """A plain tensor meets each inner tensor of a wrapper."""
    made = combine(other, one, add)

    assert isinstance(made, Wrapped)
    for (name, part), (_, whole) in zip(other.inner, made.inner, strict=True):
        assert combine(part, one, add) == whole, name


def test_the_order_of_operands_is_kept() -> None:
    """A function that does not commute gets its operands as they were given."""
    wrapper = Wrapped("TwoTensor", (("a", plain(1, 2)), ("b", plain(3, 4))))
    made = combine(plain(1, 1), wrapper, lambda a, b: a - b)

    assert leaves(made) == ((0, 7), (6, 5))


def test_undefined_operands() -> None:
    """What is computed from something undefined is undefined."""
    unknown = Dense("float64", "cpu", 2, None)

    assert combine(plain(1, 2), unknown, add) == unknown
    assert combine(unknown, plain(1, 2), add) == unknown


@pytest.mark.parametrize("dtype", DIFFERENTIABLE)
@pytest.mark.parametrize("function", ["scale", "square"])
def test_every_dtype_that_can_require_gradients_computes(
    dtype: str, function: str
) -> None:
    """A graph over any floating dtype can run backward, twice over."""
    build = Builder()
    build.name("p", "tensor", build.parameter(dtype=dtype))
    heap = build.heap()
    for _ in range(2):
        forward = Forward(function, "p", "y")  # type: ignore[arg-type]
        heap = done(heap, forward, Backward("y"))

    assert heap.impl_of(at(heap, "p.grad")).dtype == dtype


@pytest.mark.torch
@pytest.mark.parametrize(("one", "other"), [*product(DTYPES, DTYPES)])
def test_promotion(one: str, other: str) -> None:
    """The dtype of a sum is the one that torch promotes to."""
    import torch

    expected = torch.promote_types(getattr(torch, one), getattr(torch, other))

    assert str(expected) == f"torch.{promote(one, other)}"


def test_reading_leaves_the_heap() -> None:
    """A forward of what cannot be read is refused and leaves the heap."""
    heap = done(unhandled(), View("t", "v"))
    outcome = step(heap, Forward("scale", "p", "y"), spec(NEW))

    assert outcome.heap == heap  # type: ignore[union-attr]


def test_a_wrapper_that_holds_itself() -> None:
    """A swap with an inner tensor makes one, and leaves a plain tensor outside."""
    heap = done(module("TwoTensor"), NameTensor("p.a", "a"), SwapTensors("p", "a"))

    assert at(heap, "a.a") == at(heap, "a")
    for look in (read, outline):
        assert look(heap, at(heap, "a")) == Unmodelled("a wrapper that holds itself")
    assert read(heap, at(heap, "p")) == Dense("float32", "cpu", 2, (3, 4))


def test_a_wrapper_around_a_class_that_overrides() -> None:
    """What its handler calls on the inner tensor is declined."""
    b = Builder()
    inner = {"a": b.tensor(cls="SubTensor"), "b": b.tensor()}
    w = b.tensor(cls="TwoTensor", inner=inner)

    assert isinstance(read(b.heap(), w), Unmodelled)
