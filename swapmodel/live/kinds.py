"""
Which of the model's classes is the class of a live tensor?

A class of the model is what the conversion machinery can tell apart.  A user's class is
one of those only if it brings no code of its own that a conversion would run.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from swapmodel.conformance.sources import CLASSES
from swapmodel.live.reasons import NotLifted

_OWN = {one: name for name, one in CLASSES.items() if isinstance(one, type)}
"""The classes that the lockstep knows, `Parameter` among them."""

TESTED = "torch.testing._internal"

OF_TESTS = {
    f"{TESTED}.two_tensor.TwoTensor": "TwoTensor",
    f"{TESTED}.logging_tensor.LoggingTensor": "LoggingTensor",
    f"{TESTED}.common_subclass.WrapperTensorWithCustomSizes": (
        "WrapperTensorWithCustomSizes"
    ),
    f"{TESTED}.common_subclass.WrapperTensorWithCustomStrides": (
        "WrapperTensorWithCustomStrides"
    ),
}
"""
Wrappers by which torch tests its own, and the model's class for each: whatever runs on
one of them runs on what it wraps.
"""

_HARMLESS = frozenset(
    {
        *("__doc__", "__module__", "__qualname__", "__annotations__", "__dict__"),
        *(
            "__weakref__",
            "__slots__",
            "__slotnames__",
            "__init__",
            "__new__",
            "__repr__",
        ),
        *("__firstlineno__", "__static_attributes__", "__classcell__"),
    }
)
"""What a class can define without a conversion calling it."""


def kind_of(t: Any) -> str:
    """The name in `state.classes` for what *t* is, without a look at its content."""
    cls = type(t)
    if cls is torch.Tensor:
        return "Tensor"
    if cls in _OWN:
        return _OWN[cls]
    name = f"{cls.__module__}.{cls.__qualname__}"
    if name in OF_TESTS:
        return OF_TESTS[name]
    if isinstance(t, FakeTensor):
        raise NotLifted("a FakeTensor, whose behaviour depends on its mode's history")
    for one in ("__torch_dispatch__", "__torch_function__"):
        of = torch.nn.Parameter if isinstance(t, torch.nn.Parameter) else torch.Tensor
        if _code(cls, one) != _code(of, one):
            raise NotLifted(f"the class {name} has a {one} of its own")
    overridden = sorted(_overridden(cls))
    if overridden:
        raise NotLifted(f"the class {name} overrides {overridden[0]}")
    if any("__slots__" in vars(one) for one in _between(cls)):
        raise NotLifted(f"the class {name} has slots")
    if issubclass(cls, torch.nn.parameter.UninitializedTensorMixin):
        raise NotLifted(f"the class {name} is uninitialized, and no Parameter")
    return "MyParameter" if issubclass(cls, torch.nn.Parameter) else "SubTensor"


def _code(cls: Any, name: str) -> Any:
    method = getattr(cls, name)
    return getattr(method, "__func__", method)


def _between(cls: Any) -> list[Any]:
    """The classes that torch does not bring along, this one first."""
    known = {*torch.nn.Parameter.__mro__, *torch.nn.UninitializedParameter.__mro__}
    return [one for one in cls.__mro__ if one not in known]


def _overridden(cls: Any) -> set[str]:
    """What of a tensor, that code outside the class can ask for, it redefines."""
    defined = {name for one in _between(cls) for name in vars(one)}
    return {name for name in defined - _HARMLESS if hasattr(torch.Tensor, name)}
