"""
What is a tensor?  A Python object over a `TensorImpl` over a storage.
"""

from __future__ import annotations

from swapmodel.state.ids import CounterId, HooksId, ImplId, StorageId, TensorId
from swapmodel.state.record import record


@record
class Tensor:
    """
    A Python tensor: what a variable, a module's slot or an optimizer holds.

    Its identity is its position in `Heap.tensors`.  A swap changes what the
    position stands for and never which positions exist.
    """

    cls: str
    """`type(t).__name__`, a name in `state.classes`.  Moved by a swap."""

    impl: ImplId
    """The `TensorImpl` that `t` owns.  Moved by a swap."""

    attributes: tuple[tuple[str, int], ...] = ()
    """The user's entries of `t.__dict__`.  Moved by a swap."""

    inner: tuple[tuple[str, TensorId], ...] = ()
    """A wrapper's inner tensors, in `t.__dict__` too.  Moved by a swap."""

    is_param: bool = False
    """`t.__dict__["_is_param"]`: a wrapper that is a parameter.  Moved by a swap."""

    slots: tuple[tuple[str, int], ...] = ()
    """The set entries of `__slots__`.  Moved by a swap."""

    backward_hooks: HooksId | None = None
    """`t._backward_hooks`: what is listed.  Not moved: a field of the object."""

    post_accumulate_grad_hooks: HooksId | None = None
    """`t._post_accumulate_grad_hooks`: what is listed.  Not moved."""


@record
class TensorImpl:
    """
    The C++ half of a tensor: its data and what is known of them.

    Its `AutogradMeta` stands at the same position of `Heap.metas`.
    """

    storage: StorageId | None
    """`t.untyped_storage()`; `None` is a null storage, as a wrapper has."""

    pyobj: TensorId
    """The Python object of this impl: a swap stores the other one here."""

    counter: CounterId
    """The version counter, `t._version`.  Kept by `t.data = u`."""

    dtype: str
    """`t.dtype`, without its prefix."""

    device: str = "cpu"
    """`t.device.type`."""

    offset: int = 0
    """`t.storage_offset()`."""

    length: int = 2
    """`t.numel()`, the one size of a one-dimensional tensor."""

    python_key: bool = False
    """Whether operations are intercepted (dispatch key `Python`): a wrapper."""


@record
class Storage:
    """Memory that tensors can share: at most two small integers, modulo 8."""

    values: tuple[int, ...] | None
    """The elements; `None` where nobody can say (`empty_like`, `meta`)."""
