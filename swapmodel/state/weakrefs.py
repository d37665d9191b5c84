"""
What refers to a tensor without owning it?
"""

from __future__ import annotations

from typing import TypeAlias

from swapmodel.state.ids import ImplId, TensorId
from swapmodel.state.keepers import KEEPERS, Keeper, WeakrefType
from swapmodel.state.record import record

Noted: TypeAlias = tuple[str | int | bool, ...]
"""The class, dtype, length and `requires_grad` of a tensor at one time."""


@record
class Weakref:
    """
    A weak reference: of a Python object, or of an impl (`weak_intrusive_ptr`).

    Those of the object follow the object in a swap, those of the impl the impl.
    """

    keeper: Keeper = "ReferenceType"
    """What holds it and what for; `KEEPERS` says of which type it is."""

    tensor: TensorId | None = None
    """What a reference of a Python object yields; `None` once that is dead."""

    impl: ImplId | None = None
    """What a `_WeakTensorRef` points at; `None` once that is dead."""

    label: str = ""
    """What a callback reports, or nothing."""

    noted: Noted = ()
    """What an id-table or a guard noted when it took the reference."""

    ghost_tensor: TensorId | None = None
    """The object it was taken from."""

    ghost_impl: ImplId | None = None
    """The content that the object had when the reference was taken."""


def type_of(ref: Weakref) -> WeakrefType:
    """`type(r).__name__`, which is what a guard can see."""
    return KEEPERS[ref.keeper].type
