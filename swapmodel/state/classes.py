"""
Which classes of tensors are there, and what do they do?

A class here is what the conversion machinery can tell apart, not the class itself.
"""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class TensorClass:
    """What torch can ask of a tensor's class."""

    name: str
    """`type(t).__name__`."""

    parameter: bool = False
    """Whether it is `Parameter` or derives from it."""

    inner: tuple[str, ...] = ()
    """The names of a wrapper's inner tensors, outermost first."""

    traceable: bool = False
    """Whether it has `__tensor_flatten__` and `__tensor_unflatten__`."""

    slots: tuple[str, ...] = ()
    """`copyreg._slotnames(cls)`, sorted."""


TENSOR = TensorClass(name="Tensor")
PARAMETER = TensorClass(name="Parameter", parameter=True)
TWO_TENSOR = TensorClass(name="TwoTensor", inner=("a", "b"), traceable=True)

CLASSES = {one.name: one for one in (TENSOR, PARAMETER, TWO_TENSOR)}


def tensor_class(name: str) -> TensorClass:
    """The class of that name; `KeyError` for an unknown one."""
    return CLASSES[name]
