"""
What refers to a tensor without owning it?
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from swapmodel.state.ids import ImplId, TensorId
from swapmodel.state.record import record

WeakrefType: TypeAlias = Literal["ReferenceType", "_WeakTensorRef"]
"""What a guard can see of a weak reference."""

PYTHON_TYPES: tuple[WeakrefType, ...] = ("ReferenceType",)
"""Types that `weakref.getweakrefs` lists; the others count on the impl."""


@record
class Weakref:
    """
    A weak reference: of a Python object, or of an impl (`weak_intrusive_ptr`).

    Those of the object follow the object in a swap, those of the impl the impl.
    """

    type: WeakrefType
    """`type(r).__name__`."""

    tensor: TensorId | None = None
    """What a reference of a Python object yields; `None` once that is dead."""

    impl: ImplId | None = None
    """What a `_WeakTensorRef` points at; `None` once that is dead."""

    ghost_tensor: TensorId | None = None
    """The object it was taken from."""
