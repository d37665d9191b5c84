"""
What does `copy.deepcopy` make of a tensor or of a module?
"""

from __future__ import annotations

from attrs import Factory, define

from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import autograd_meta, edges, payloads, spec, tensors
from swapmodel.semantics.convert_rnn import is_rnn
from swapmodel.semantics.payloads import Dense, Wrapped
from swapmodel.semantics.spec import Frame
from swapmodel.semantics.weakrefs import take
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.holders import Module
from swapmodel.state.ids import ModuleId, StorageId, TensorId
from swapmodel.state.tensors import Storage

DEEPEST = 100
"""How many copies can have begun within each other."""


@define
class Memo:
    """What one call of `copy.deepcopy` has copied by now: each thing once."""

    tensors: dict[TensorId, TensorId] = Factory(dict)
    storages: dict[StorageId, StorageId] = Factory(dict)
    modules: dict[ModuleId, ModuleId] = Factory(dict)
    begun: set[TensorId] = Factory(set)
    """The tensors whose copy has begun and not ended: nobody can refer to it yet."""


# -- Tensors -------------------------------------------------------------------------


def deepcopy(draft: Draft, t: TensorId, memo: Memo | None = None) -> TensorId | Stop:
    """`copy.deepcopy(t)`: a `Parameter` copies itself in a way of its own."""
    memo = memo or Memo()
    if t in memo.tensors:
        return memo.tensors[t]
    if t in memo.begun:
        return Unmodelled("the copy of a tensor that its own gradient leads back to")
    if len(memo.begun) - len(memo.tensors) > DEEPEST:
        # Torch recurses as well, and raises as Python's stack ends.
        return Unmodelled(f"a copy of more than {DEEPEST} gradients of gradients")
    memo.begun.add(t)
    is_parameter = tensor_class(draft.tensor(t).cls).parameter
    made = _parameter(draft, t) if is_parameter else _tensor(draft, t, memo)
    if isinstance(made, int):
        memo.tensors[t] = made
    return made


def _parameter(draft: Draft, t: TensorId) -> TensorId | Stop:
    """
    `type(t)(t.data.clone(), t.requires_grad)`: nothing else comes along.

    One that is uninitialized is made as such, whatever it holds by now, if its `.data`
    can be read.  Source:
    `Parameter.__deepcopy__`, `UninitializedParameter.__deepcopy__`.
    """
    impl, known = draft.impl_of(t), tensor_class(draft.tensor(t).cls)
    read = payloads.outline if known.uninitialized else payloads.read
    payload = read(draft, t)
    if isinstance(payload, Stop):
        return payload
    if known.uninitialized:
        payload = Dense(impl.dtype, impl.device, 0, ())
    # [deepcopy/parameter]
    made = tensors.make(draft, payload)
    draft.edit_tensor(made).cls = draft.tensor(t).cls
    if autograd_meta.requires_grad(draft, t):
        draft.edit_meta(draft.tensor(made).impl).requires_grad = True
    return made


def _tensor(draft: Draft, t: TensorId, memo: Memo) -> TensorId | Stop:
    """
    Copy a tensor with its storage, its gradient and its `__dict__`.

    Source: `Tensor.__deepcopy__`.
    """
    tensor = draft.tensor(t)
    # [deepcopy/not-a-leaf]
    stop = edges.unless_leaf(draft, t, Refusal("deepcopy/not-a-leaf"))
    if stop is not None:
        return stop
    made = _content(draft, t, memo)
    if isinstance(made, Stop):
        return made
    if autograd_meta.requires_grad(draft, t):
        refused = autograd_meta.set_requires_grad(draft, made, True)
        if refused is not None:
            return refused
    grad = draft.grad_of(t)
    if grad is not None:
        copied = deepcopy(draft, grad, memo)
        if isinstance(copied, Stop):
            return copied
        refused = autograd_meta.set_grad(draft, made, copied)
        if refused is not None:
            return refused
    inner: list[tuple[str, TensorId]] = []
    for name, one in tensor.inner:
        part = deepcopy(draft, one, memo)
        if isinstance(part, Stop):
            return part
        inner.append((name, part))
    written = draft.edit_tensor(made)
    written.inner, written.attributes = tuple(inner), tensor.attributes
    written.is_param, written.slots = tensor.is_param, tensor.slots
    return made


def _content(draft: Draft, t: TensorId, memo: Memo) -> TensorId | Stop:
    """Make a tensor like *t*: cloned if it has no memory of its own, else by memory."""
    impl, cls = draft.impl_of(t), draft.tensor(t).cls
    if cls == "Tensor" and impl.device != "meta" and impl.storage is None:
        # [deepcopy/null-storage]
        return Refusal("deepcopy/null-storage")
    payload = payloads.read(draft, t)
    if isinstance(payload, Stop):
        return payload
    empty = impl.length == 0
    if impl.device == "meta" or impl.storage is None or (cls != "Tensor" and empty):
        if payloads.kind(payload) != cls:
            # [deepcopy/clone-type]
            return Refusal("deepcopy/clone-type")
        return tensors.make(draft, payload)
    if isinstance(payload, Wrapped):
        return Unmodelled("the copy of a wrapper with a storage has no dimension")
    if cls != "Tensor":
        # [deepcopy/new-empty-type]
        return Refusal("deepcopy/new-empty-type")
    if impl.storage not in memo.storages:
        values = draft.storage(impl.storage).values
        memo.storages[impl.storage] = draft.add_storage(Storage(values=values))
    made = tensors.make(draft, payload)
    copied = draft.edit_impl(draft.tensor(made).impl)
    copied.storage, copied.offset = memo.storages[impl.storage], impl.offset
    # `new_empty([]).set_(...)` is a write that is counted.
    draft.bump_version(draft.tensor(made).impl)
    return made


# -- Modules -------------------------------------------------------------------------


def deepcopy_module(
    draft: Draft, frame: Frame, m: ModuleId, memo: Memo | None = None
) -> ModuleId | Stop:
    """`copy.deepcopy(m)`: what is one thing in the module is one in the copy."""
    memo = memo or Memo()
    if m in memo.modules:
        return memo.modules[m]
    if is_rnn(draft, m):
        call = Frame(frame.spec)
        call.module = m
        stop = spec.run(draft, call, "copy_rnn")
        if stop is not None:
            return stop
    module = draft.module(m)
    copied = Module(cls=module.cls, flat_weights_names=module.flat_weights_names)
    made = memo.modules[m] = draft.add_module(copied)
    return _copy_held(draft, frame, m, made, memo) or made


def _copy_held(
    draft: Draft, frame: Frame, m: ModuleId, made: ModuleId, memo: Memo
) -> Stop | None:
    """Copy what a module holds, in the order of its `__dict__`."""
    module, copied = draft.module(m), draft.edit_module(made)
    for listed in ("parameters", "buffers"):
        for name, t in getattr(module, listed):
            one = None if t is None else deepcopy(draft, t, memo)
            if not isinstance(one, int | None):
                return one
            setattr(copied, listed, (*getattr(copied, listed), (name, one)))
    for name, child in module.children:
        inside = deepcopy_module(draft, frame, child, memo)
        if isinstance(inside, Stop):
            return inside
        copied.children = (*copied.children, (name, inside))
    for t in module.flat_weights:
        one = None if t is None else deepcopy(draft, t, memo)
        if not isinstance(one, int | None):
            return one
        copied.flat_weights = (*copied.flat_weights, one)
    for name, t in module.attributes:
        plain = deepcopy(draft, t, memo)
        if isinstance(plain, Stop):
            return plain
        copied.attributes = (*copied.attributes, (name, plain))
    copied.flat_weight_refs = tuple(
        None if t is None else take(draft, "ReferenceType", t)
        for t in copied.flat_weights
    )
    return None
