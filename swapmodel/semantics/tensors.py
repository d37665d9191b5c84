"""
How do tensors come to be: from a payload, as an alias, as a parameter?
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop
from swapmodel.semantics import payloads
from swapmodel.semantics.payloads import Dense, Payload, Wrapped
from swapmodel.state.autograd import NO_META
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Columns
from swapmodel.state.ids import CounterId, ImplId, TensorId
from swapmodel.state.record import writable
from swapmodel.state.tensors import Storage, Tensor, TensorImpl

NewTensor, NewImpl, NewStorage = (
    writable(Tensor),
    writable(TensorImpl),
    writable(Storage),
)


Inner = tuple[tuple[str, TensorId], ...]


def make(draft: Draft, payload: Payload) -> TensorId:
    """Make a new tensor that holds *payload* and shares nothing."""
    dense = payloads.first(payload)
    inner: tuple[tuple[str, TensorId], ...] = ()
    storage = None
    if isinstance(payload, Wrapped):
        inner = tuple((name, make(draft, one)) for name, one in payload.inner)
    else:
        storage = draft.add_storage(NewStorage(values=dense.values))
    t = TensorId(len(draft.tensors))
    i = draft.add_impl(
        NewImpl(
            storage=storage,
            pyobj=t,
            counter=draft.add_counter(),
            dtype=dense.dtype,
            device=dense.device,
            length=dense.length,
            python_key=isinstance(payload, Wrapped),
        ),
        NO_META,
    )
    cls = payload.cls if isinstance(payload, Wrapped) else "Tensor"
    return draft.add_tensor(NewTensor(cls=cls, impl=i, inner=inner))


def detach(draft: Draft, t: TensorId) -> TensorId | Stop:
    """`t.detach()`: another tensor over the same storage, out of the graph."""
    return _detached(draft, t, draft.impl_of(t).counter)


def data(draft: Draft, t: TensorId) -> TensorId | Stop:
    """`t.data`: another tensor over the same storage, with a counter of its own."""
    return _detached(draft, t, None)


def _detached(draft: Draft, t: TensorId, counter: CounterId | None) -> TensorId | Stop:
    payload = payloads.outline(draft, t)
    if isinstance(payload, Stop):
        return payload
    own = draft.add_counter() if counter is None else counter
    made = alias(draft, t, payload, own, detach=True)
    known = tensor_class(draft.tensor(t).cls)
    return as_subclass(draft, made, known.name) if known.converts else made


def as_subclass(
    draft: Draft, made: TensorId, cls: str, *, grad_mode: bool = True
) -> TensorId:
    """
    `made.as_subclass(cls)`: a view of *made*, which is owned by nothing else.

    So what `Tensor.__torch_function__` converts always has a base.
    """
    payload = payloads.outline(draft, made)
    assert isinstance(payload, Dense), "a converted result is no wrapper"
    out = alias(draft, made, payload, draft.impl_of(made).counter)
    draft.edit_tensor(out).cls = cls
    become_view(draft, out, made, grad_mode=grad_mode)
    return out


def become_view(
    draft: Draft, view: TensorId, t: TensorId, *, grad_mode: bool = True
) -> None:
    """Make an alias of *t* a view of it, or of what *t* is a view of."""
    i, viewed = draft.tensor(t).impl, draft.meta_of(t)
    meta = draft.edit_meta(draft.tensor(view).impl)
    meta.base = i if viewed.base is None else viewed.base
    meta.view_version = draft.version(draft.impl(i).counter)
    meta.no_grad_view = viewed.no_grad_view or not grad_mode


def alias(
    draft: Draft,
    t: TensorId,
    payload: Payload,
    counter: CounterId,
    *,
    detach: bool = False,
) -> TensorId:
    """
    Make another tensor over the storage of *t*, which reads as *payload*.

    A wrapper's handler makes the new wrapper from aliases of the inner tensors, so
    its own dtype and size come from them again.  Their version counters are new: the
    handler runs below the layer that shares them.  Some give a part to *detach*.
    """
    while detach and isinstance(payload, Wrapped) and tensor_class(payload.cls).unwraps:
        payload, t = payload.inner[0][1], draft.tensor(t).inner[0][1]
    impl, dense = draft.impl_of(t), payloads.first(payload)
    storage, offset, inner = impl.storage, impl.offset, Inner()
    if isinstance(payload, Wrapped):
        # The new wrapper has a null storage, even if `t.data = u` gave *t* another.
        storage, offset = None, 0
        inner = _aliases(draft, t, payload, detach=detach)
    new = TensorId(len(draft.tensors))
    i = draft.add_impl(
        NewImpl(
            storage=storage,
            pyobj=new,
            counter=counter,
            dtype=dense.dtype,
            device=dense.device,
            offset=offset,
            length=dense.length,
            python_key=impl.python_key,
        ),
        NO_META,
    )
    return draft.add_tensor(
        NewTensor(cls=payloads.kind(payload), impl=i, inner=tuple(inner))
    )


def _aliases(
    draft: Draft, t: TensorId, payload: Wrapped, *, detach: bool
) -> tuple[tuple[str, TensorId], ...]:
    """Other tensors over the storages of what a wrapper wraps."""
    parts, made = dict(payload.inner), list[tuple[str, TensorId]]()
    for name, one in draft.tensor(t).inner:
        own = draft.add_counter()
        made.append((name, alias(draft, one, parts[name], own, detach=detach)))
    return tuple(made)


def make_parameter(
    draft: Draft, t: TensorId, *, requires_grad: bool
) -> TensorId | Stop:
    """
    `Parameter(t, requires_grad)`: an alias of *t* that a module accepts.

    Refuses a class whose `detach` gives another one, and integers that are to
    require a gradient.  Source:
    `torch.nn.Parameter.__new__`.
    """
    known = tensor_class(draft.tensor(t).cls)
    if known.uninitialized:
        # [class/uninitialized]
        return Refusal("class/uninitialized", known.name)
    new = detach(draft, t)
    if isinstance(new, Stop):
        return new
    if requires_grad and draft.impl_of(new).dtype not in payloads.DIFFERENTIABLE:
        if known.plain:
            # [parameter/differentiable-dtype]
            return Refusal("parameter/differentiable-dtype")
        # [requires-grad/dtype]
        return Refusal("requires-grad/dtype")
    if known.plain:
        draft.edit_tensor(new).cls = "Parameter"
    elif draft.tensor(new).cls != known.name:
        # [parameter/detach-type]
        facts = (("found", draft.tensor(new).cls),)
        return Refusal("parameter/detach-type", known.name, facts)
    else:
        draft.edit_tensor(new).is_param = True
    if requires_grad:
        draft.edit_meta(draft.tensor(new).impl).requires_grad = True
    return new


def is_parameter(state: Columns, t: TensorId) -> bool:
    """`isinstance(t, torch.nn.Parameter)`."""
    tensor = state.tensor(t)
    return tensor.is_param or tensor_class(tensor.cls).parameter


def is_buffer(state: Columns, t: TensorId) -> bool:
    """`isinstance(t, torch.nn.Buffer)`: an entry of `__dict__` says so, no class."""
    return dict(state.tensor(t).attributes).get("_is_buffer", 0) != 0


def move_data(draft: Draft, into: ImplId, source: ImplId) -> None:
    """
    Copy what an impl knows of its data over another one.

    The version counter, the Python object and the `Python` key stay.  Source:
    `TensorImpl::shallow_copy_from`, called by `t.data = u`.
    """
    impl, other = draft.edit_impl(into), draft.impl(source)
    impl.storage = other.storage
    impl.offset = other.offset
    impl.length = other.length
    impl.dtype = other.dtype
    impl.device = other.device
