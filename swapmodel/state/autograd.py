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

    view_version: int = 0
    """The version of a view when its `grad_fn` was made; at another one it is stale."""

    no_grad_view: bool = False
    """Whether it is a view made under `no_grad`, or a view of one."""

    replayed: tuple[ImplId, ...] = ()
    """The inputs of the functions that replay a wrapper's view; they own them."""

    accumulator: NodeId | None = None
    """The `AccumulateGrad` of a leaf: a weak pointer, gone with the node."""

    hooks: tuple[HooksId, ...] = ()
    """The dicts whose hooks really fire for a leaf."""

    post_accumulate_grad_hooks: HooksId | None = None
    """The dict whose post-accumulate hooks really fire."""

    retains_grad: bool = False
    """`t.retains_grad` of a non-leaf; the hook itself is the node's."""


def in_graph(meta: AutogradMeta) -> bool:
    """Whether a tensor takes part in graphs, as a leaf or as what one computed."""
    return meta.requires_grad or meta.grad_fn is not None


NO_META = AutogradMeta()
"""What autograd knows of a tensor that it never met; most tensors share this one."""


RESULT = -1
"""Stands for a function's own result, saved as an alias that is in no graph."""


@record
class SavedVariable:
    """A tensor that a node saved for backward, an owner of its impl."""

    impl: ImplId
    """What is read when backward runs, whatever it holds by then."""

    version: int
    """The version when it was saved; backward refuses another one."""

    operand: int = 0
    """Which operand of the function it is; `RESULT` for what the function gave."""

    ghost_values: tuple[tuple[int, ...] | None, ...] = ()
    """The values when it was saved, innermost tensors in order."""


@record
class Node:
    """A node of the graph that backward walks."""

    name: str
    """`type(node).__name__`, such as `MulBackward0` or `AccumulateGrad`."""

    function: str
    """The forward function in the algebra of `semantics.forward`."""

    dtype: str
    """The dtype its gradient is cast to before it runs (`input_metadata`)."""

    length: int
    """The size its gradient must have (`input_metadata`)."""

    device: str = "cpu"
    """The device its gradient must be on (`input_metadata`)."""

    variable: ImplId | None = None
    """`node.variable` of an `AccumulateGrad`, an owner of that impl."""

    edges: tuple[NodeId | None, ...] = ()
    """`node.next_functions`, owners of those nodes."""

    saved: tuple[SavedVariable, ...] = ()
    """What it saved, until a backward frees it."""

    constant: bool = False
    """Whether it saved a constant, which a backward frees as well."""

    window: tuple[int, ...] = ()
    """Offset and length of a base and of its view (`AsStridedBackward0`)."""

    freed: bool = False
    """Whether a backward has freed what it saved."""

    poisoned: bool = False
    """Whether a swap registered the prehook that refuses to run the node."""

    hooks: tuple[HooksId, ...] = ()
    """The dicts whose tensor hooks fire when its gradient arrives."""

    retains: ImplId | None = None
    """The tensor whose `retain_grad` hook it has: a weak pointer to that impl."""

    post_hooks: HooksId | None = None
    """The hooks that fire once it has run (`node.register_hook`)."""


@record
class Hooks:
    """One dict of hooks, shared by the object that lists it and what fires it."""

    entries: tuple[str, ...] = ()
    """The hooks' labels, in the order of registration."""
