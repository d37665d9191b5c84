"""
What does `torch.utils.swap_tensors` check, in what order, and what does it move?
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop
from swapmodel.semantics import edges, ownership, spec
from swapmodel.semantics.autograd_meta import requires_grad
from swapmodel.semantics.guards import OPERANDS, each
from swapmodel.semantics.spec import Frame, phase
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.ids import TensorId


def swap_tensors(draft: Draft, frame: Frame, t1: TensorId, t2: TensorId) -> Stop | None:
    """
    Exchange what *t1* and *t2* stand for, and keep which objects they are.

    A refusal ends this operation where it stands.  Source:
    `torch.utils.swap_tensors`, pytorch#111747.
    """
    call = Frame(frame.spec)
    call.t1, call.t2 = t1, t2
    return spec.call(draft, call, "swap_tensors")


# -- Checks ------------------------------------------------------------------------


@phase("same-slots", "swap_tensors", reads=OPERANDS)
def same_slots(draft: Draft, frame: Frame) -> Stop | None:
    """Refuse classes whose `__slots__` differ in more than their order."""
    one = tensor_class(draft.tensor(frame.t1).cls)
    other = tensor_class(draft.tensor(frame.t2).cls)
    if one.slot_names != other.slot_names:
        # [swap/same-slots]
        return Refusal("swap/same-slots")
    return None


@phase("few-owners", "swap_tensors", reads=OPERANDS)
def few_owners(draft: Draft, frame: Frame) -> Stop | None:
    """
    Refuse a tensor with an owner other than its `AccumulateGrad` node.

    Source: `check_use_count` in `torch.utils.swap_tensors`, pytorch#127313.
    """
    for operand, t in each(frame):
        refusal = _too_many_owners(draft, operand, t)
        if refusal is not None:
            return refusal
        # [swap/poison] At once, before the other tensor has been looked at.
        _poison(draft, t)
    return None


@phase("few-owners-unpoisoned", "swap_tensors", reads=OPERANDS)
def few_owners_unpoisoned(draft: Draft, frame: Frame) -> Stop | None:
    """Ask of both tensors what `few-owners` asks, and poison neither."""
    for operand, t in each(frame):
        refusal = _too_many_owners(draft, operand, t)
        if refusal is not None:
            return refusal
    return None


def _too_many_owners(draft: Draft, operand: str, t: TensorId) -> Stop | None:
    count = ownership.use_count(draft, t)
    if count == 1:
        return None
    node = edges.grad_fn(draft, t) if count == 2 else None
    if isinstance(node, Stop):
        return node
    made = draft.meta_of(t).accumulator
    if count == 2 and node is None:
        if not requires_grad(draft, t):
            # [swap/gradient-edge] The edge is asked for before the owner is known.
            return Refusal("swap/gradient-edge", operand)
        edge = edges.edge_of_leaf(draft, t)
        if isinstance(edge, Stop):
            return edge
    if count > 2 or node is not None or made is None:
        # [swap/few-owners]
        return Refusal("swap/few-owners", operand, (("count", count),))
    return None


def _poison(draft: Draft, t: TensorId) -> None:
    """Make the `AccumulateGrad` node of *t*, if it is alive, refuse to run."""
    node = draft.meta_of(t).accumulator
    if node is not None and not tensor_class(draft.tensor(t).cls).converts:
        draft.edit_node(node).poisoned = True


@phase("one-owner", "swap_tensors", reads=OPERANDS)
def one_owner(draft: Draft, frame: Frame) -> Stop | None:
    """
    Refuse a tensor with any owner but its Python object.

    Source: `torch._C._swap_tensor_impl` in 2.3.0.
    """
    for operand, t in each(frame):
        count = ownership.use_count(draft, t)
        if count > 1:
            # [swap/one-owner]
            return Refusal("swap/one-owner", operand, (("count", count),))
    return None


@phase("no-impl-weakrefs", "swap_tensors", reads=OPERANDS)
def no_impl_weakrefs(draft: Draft, frame: Frame) -> Stop | None:
    """
    Refuse a tensor whose impl a C++ weak pointer points at.

    Source: `torch._C._swap_tensor_impl`.
    """
    for operand, t in each(frame):
        count = ownership.weak_count(draft, t)
        if count:
            # [swap/no-impl-weakrefs]
            return Refusal("swap/no-impl-weakrefs", operand, (("count", count),))
    return None


# -- Moves -------------------------------------------------------------------------


@phase("move-class", "swap_tensors", reads=OPERANDS)
def move_class(draft: Draft, frame: Frame) -> Stop | None:
    """
    Exchange `__class__`.

    Refuses classes whose instances do not look alike in memory: equal slots are not
    enough when they were added to different classes.
    """
    a, b = draft.edit_tensor(frame.t1), draft.edit_tensor(frame.t2)
    if tensor_class(a.cls).layout != tensor_class(b.cls).layout:
        # [swap/class-layout]
        facts = (("new", b.cls), ("old", a.cls))
        return Refusal("swap/class-layout", "t1", facts)
    a.cls, b.cls = b.cls, a.cls
    return None


@phase("move-attributes", "swap_tensors", reads=OPERANDS)
def move_attributes(draft: Draft, frame: Frame) -> Stop | None:
    """Exchange `__dict__`: user attributes, inner tensors, `_is_param`."""
    a, b = draft.edit_tensor(frame.t1), draft.edit_tensor(frame.t2)
    a.attributes, b.attributes = b.attributes, a.attributes
    a.inner, b.inner = b.inner, a.inner
    a.is_param, b.is_param = b.is_param, a.is_param
    return None


@phase("move-slots", "swap_tensors", reads=OPERANDS)
def move_slots(draft: Draft, frame: Frame) -> Stop | None:
    """Exchange the values of `__slots__`; what is unset on one becomes unset."""
    a, b = draft.edit_tensor(frame.t1), draft.edit_tensor(frame.t2)
    a.slots, b.slots = b.slots, a.slots
    return None


@phase("move-impl", "swap_tensors", reads=OPERANDS)
def move_impl(draft: Draft, frame: Frame) -> Stop | None:
    """
    Exchange the impls, and the Python object that each of them knows.

    The hook dicts are fields of the Python object and stay, pytorch#116955.
    """
    a, b = draft.edit_tensor(frame.t1), draft.edit_tensor(frame.t2)
    a.impl, b.impl = b.impl, a.impl
    draft.edit_impl(a.impl).pyobj = frame.t1
    draft.edit_impl(b.impl).pyobj = frame.t2
    return None


@phase("poison", "swap_tensors", reads=OPERANDS)
def poison(draft: Draft, frame: Frame) -> Stop | None:
    """Poison the live nodes of both tensors, now that the swap has happened."""
    for _, t in each(frame):
        _poison(draft, t)
    return None
