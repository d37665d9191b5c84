"""
Which weak references of Python objects does `torch.utils.swap_tensors` admit?

None on any release; proposals would admit some, by type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from swapmodel.outcomes import Refusal, Stop
from swapmodel.semantics import spec
from swapmodel.semantics.spec import Frame, phase
from swapmodel.state.draft import Draft
from swapmodel.state.ids import TensorId
from swapmodel.state.weakrefs import Weakref, type_of

OPERANDS = ("t1", "t2")

spec.operation("swap_tensors", *OPERANDS)


def each(frame: Frame) -> tuple[tuple[str, TensorId], ...]:
    """Both tensors of a swap, with the name that a text gives each."""
    return ("t1", frame.t1), ("t2", frame.t2)


Admits: TypeAlias = Callable[[Weakref], bool]
"""Whether a guard lets a tensor pass that has this weak reference."""


def _guard(draft: Draft, frame: Frame, admits: Admits) -> Stop | None:
    """Refuse a tensor with a Python weak reference that is not admitted."""
    for operand, t in each(frame):
        for ref in draft.weakrefs:
            if ref is not None and ref.tensor == t and not admits(ref):
                # [swap/no-weakrefs]
                return Refusal("swap/no-weakrefs", operand)
    return None


@phase("no-weakrefs", "swap_tensors", reads=OPERANDS)
def no_weakrefs(draft: Draft, frame: Frame) -> Stop | None:
    """Admit no weak reference of a Python object."""
    return _guard(draft, frame, lambda ref: False)


@phase("no-weakref-subclasses", "swap_tensors", reads=OPERANDS)
def no_weakref_subclasses(draft: Draft, frame: Frame) -> Stop | None:
    """Admit what is not of a subclass of `weakref.ref`: plain references, proxies."""
    plain = ("ReferenceType", "ProxyType")
    return _guard(draft, frame, lambda ref: type_of(ref) in plain)


@phase("no-weakrefs-but-weakidref", "swap_tensors", reads=OPERANDS)
def no_weakrefs_but_weakidref(draft: Draft, frame: Frame) -> Stop | None:
    """Admit `WeakIdRef`, which goes by `id()`."""
    return _guard(draft, frame, lambda ref: type_of(ref) == "WeakIdRef")


@phase("no-weakrefs-but-keyedref", "swap_tensors", reads=OPERANDS)
def no_weakrefs_but_keyedref(draft: Draft, frame: Frame) -> Stop | None:
    """Admit `KeyedRef`, which tracks a value of a map."""
    return _guard(draft, frame, lambda ref: type_of(ref) == "KeyedRef")


@phase("no-weakrefs-but-internal", "swap_tensors", reads=OPERANDS)
def no_weakrefs_but_internal(draft: Draft, frame: Frame) -> Stop | None:
    """
    Admit references of torch's own.

    Under a guard that can tell them apart, `TensorWeakRef` has a type of its own.
    """
    internal = ("InternalRef", "TensorWeakRef")
    return _guard(draft, frame, lambda ref: ref.keeper in internal)
