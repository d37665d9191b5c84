"""Conversions: what a function can apply, seen through what it is made of."""

from typing import get_args

import pytest

from swapmodel.conversions import (
    ByRole,
    Cast,
    ConversionFn,
    Identity,
    NoTensor,
    RaiseAt,
    TensorFn,
    To,
    parts,
)


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (Cast("float64"), (Cast("float64"),)),
        (RaiseAt(2, NoTensor()), (NoTensor(),)),
        (ByRole(Identity(), To("float16")), (Identity(), To("float16"))),
    ],
)
def test_parts(fn: ConversionFn, expected: tuple[TensorFn, ...]) -> None:
    """A function that raises or tells apart is made of those that it applies."""
    assert tuple(parts(fn)) == expected


def test_composed_functions_hold_simple_ones() -> None:
    """So a part has no parts, and one look is enough."""
    simple = get_args(TensorFn)

    assert {RaiseAt, ByRole}.isdisjoint(simple)
    assert set(get_args(ConversionFn)) == {*simple, RaiseAt, ByRole}


def test_methods_are_told_apart_from_each_other() -> None:
    """`m.double()` and `m.to(torch.float64)` differ in what they cast."""
    fns: set[TensorFn] = {Cast("float64"), To("float64"), Cast("float64")}

    assert len(fns) == 2
