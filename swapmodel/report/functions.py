"""
How does a person write the conversion of a module in torch?
"""

from __future__ import annotations

import re

from swapmodel.conversions import (
    ByRole,
    Cast,
    ConversionFn,
    DetachEach,
    Identity,
    NoTensor,
    Other,
    RaiseAt,
    Scale,
    ScaleInPlace,
    TensorFn,
    To,
    ToDevice,
    ToEmpty,
    Type,
    Unwrap,
    Wrap,
    parts,
)
from swapmodel.report.names import dtype, expression
from swapmodel.semantics.payloads import SCALE
from swapmodel.state.classes import tensor_class

CAST_METHODS = {
    "float64": "double",
    "float32": "float",
    "float16": "half",
    "bfloat16": "bfloat16",
}
"""The methods of `nn.Module` that cast, by dtype."""


def conversion(module: str, fn: ConversionFn) -> str:
    """A module's conversion: one of its methods, or a function for `_apply`."""
    match fn:
        case Cast(name) if name in CAST_METHODS:
            return f"{module}.{CAST_METHODS[name]}()"
        case To(name):
            return f"{module}.to({dtype(name)})"
        case Type(name):
            return f"{module}.type({dtype(name)})"
        case ToDevice(name):
            return f'{module}.to("{name}")'
        case ToEmpty(name):
            return f'{module}.to_empty(device="{name}")'
        case RaiseAt(number, one):
            return f"{module}._apply(RaiseAt({number}, {_lambda(one)}))"
        case _:
            return f"{module}._apply({_lambda(fn)})"


def _lambda(fn: TensorFn | ByRole) -> str:
    """A function of one tensor, called `t` unless it reads a variable of that name."""
    read = [expression(one.place) for one in parts(fn) if isinstance(one, Other)]
    (t, *_) = [
        one for one in "txy" if not any(re.match(rf"{one}\b", place) for place in read)
    ]
    match fn:
        case ByRole(parameter, other):
            is_parameter = f"isinstance({t}, torch.nn.Parameter)"
            made = f"{applied(parameter, t)} if {is_parameter} else {applied(other, t)}"
        case _:
            made = applied(fn, t)
    return f"lambda {t}: {made}"


def applied(fn: TensorFn, t: str = "t") -> str:
    """What a function makes of *t*, as an expression in parentheses."""
    return f"({_applied(fn, t)})"


def _applied(fn: TensorFn, t: str) -> str:
    match fn:
        case Cast(name):
            return f"{t}.to({dtype(name)}) if {t}.is_floating_point() else {t}"
        case To(name):
            asked = f"{t}.is_floating_point() or {t}.is_complex()"
            return f"{t}.to({dtype(name)}) if {asked} else {t}"
        case Type(name):
            return f"{t}.type({dtype(name)})"
        case ToDevice(name):
            return f'{t}.to("{name}")'
        case ToEmpty(name):
            return f'torch.empty_like({t}, device="{name}")'
        case Identity():
            return t
        case DetachEach():
            return f"{t}.detach()"
        case Scale():
            return f"{t} * {SCALE}"
        case ScaleInPlace():
            return f"{t}.mul_({SCALE})"
        case Wrap(cls):
            copies = [f"{t}.detach().clone()"] * len(tensor_class(cls).inner)
            return f"{cls}({', '.join(copies)})"
        case Unwrap(name):
            return f'getattr({t}, "{name}", {t})'
        case NoTensor():
            return "None"
        case Other(place):
            return expression(place)
