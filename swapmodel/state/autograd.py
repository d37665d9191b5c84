"""
What does autograd know?  Metadata of an impl, graph nodes, saved tensors, hooks.
"""

from __future__ import annotations

from swapmodel.state.ids import HooksId, ImplId, NodeId
from swapmodel.state.record import record


@record
class AutogradMeta:
    """
    What autograd knows of one impl, at the same position of `Heap.metas`.

    A swap moves it with its impl; `t.data = u` keeps it.
    """

    requires_grad: bool = False
    """`t.requires_grad` of a leaf."""

    grad: ImplId | None = None
    """`t.grad`, an owner of that impl."""

    grad_fn: NodeId | None = None
    """`t.grad_fn`: set exactly when `t` is not a leaf."""

    base: ImplId | None = None
    """`t._base` of a view, an owner of that impl."""

    accumulator: NodeId | None = None
    """The `AccumulateGrad` of a leaf: a weak pointer, gone with the node."""

    hooks: tuple[HooksId, ...] = ()
    """The dicts whose hooks really fire for a leaf."""

    post_accumulate_grad_hooks: HooksId | None = None
    """The dict whose post-accumulate hooks really fire."""

    retains_grad: bool = False
    """`t.retains_grad` of a non-leaf: its hook holds a C++ weak pointer to `t`."""


NO_META = AutogradMeta()
"""What autograd knows of a tensor that it never met; most tensors share this one."""


@record
class SavedVariable:
    """A tensor that a node saved for backward, an owner of its impl."""

    impl: ImplId
    """What is read when backward runs, whatever it holds by then."""

    version: int
    """The version when it was saved; backward refuses another one."""

    ghost_values: tuple[tuple[int, ...] | None, ...] = ()
    """The values when it was saved, innermost tensors in order."""


@record
class Node:
    """A node of the graph that backward walks."""

    name: str
    """`type(node).__name__`, such as `MulBackward0` or `AccumulateGrad`."""

    function: str
    """The forward function in the algebra of `semantics.values`."""

    dtype: str
    """The dtype its gradient is cast to before it runs (`input_metadata`)."""

    length: int
    """The size its gradient must have (`input_metadata`)."""

    variable: ImplId | None = None
    """`node.variable` of an `AccumulateGrad`, an owner of that impl."""

    edges: tuple[NodeId | None, ...] = ()
    """`node.next_functions`, owners of those nodes."""

    saved: tuple[SavedVariable, ...] = ()
    """What it saved, until a backward frees it."""

    freed: bool = False
    """Whether a backward has freed what it saved."""

    poisoned: bool = False
    """Whether a swap registered the prehook that refuses to run the node."""

    hooks: tuple[HooksId, ...] = ()
    """The dicts whose tensor hooks fire when its gradient arrives."""


@record
class Hooks:
    """One dict of hooks, shared by the object that lists it and what fires it."""

    entries: tuple[str, ...] = ()
    """The hooks' labels, in the order of registration."""
