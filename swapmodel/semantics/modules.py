"""
How does a module come to hold a tensor, and how does it let go of it?
"""

from __future__ import annotations

from typing import TypeVar

from swapmodel.outcomes import Refusal, Stop
from swapmodel.semantics import edges, tensors, weakrefs
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Columns
from swapmodel.state.holders import Module, held
from swapmodel.state.ids import ModuleId, TensorId

P = TypeVar("P")

Listed = tuple[tuple[str, P], ...]


def _names(listed: Listed[P]) -> tuple[str, ...]:
    return tuple(name for name, _ in listed)


def _with(listed: Listed[P], key: str, one: P) -> Listed[P]:
    """`listed[key] = one`: in the place of what had the name, or at the end."""
    if key in _names(listed):
        return tuple((name, one if name == key else old) for name, old in listed)
    return (*listed, (key, one))


def _without(listed: Listed[P], key: str) -> Listed[P]:
    return tuple(held for held in listed if held[0] != key)


# -- Registering ---------------------------------------------------------------------


def register_parameter(draft: Draft, m: ModuleId, key: str, t: TensorId) -> Stop | None:
    """
    `m.register_parameter(key, t)`.

    Refuses a name that is taken by anything else, and all but leaves of the class.
    """
    module = draft.edit_module(m)
    listed = (module.attributes, module.buffers, module.children)
    if any(key in _names(one) for one in listed) and key not in _names(
        module.parameters
    ):
        # [module/name-taken]
        return Refusal("module/name-taken", key, (("key", key),))
    if not tensors.is_parameter(draft, t):
        # [module/parameter-required]
        return _refusal_of("module/parameter-required", draft, key, t)
    # [module/not-a-leaf]
    refusal = Refusal("module/not-a-leaf", key, (("key", key),))
    stop = edges.unless_leaf(draft, t, refusal)
    if stop is not None:
        return stop
    put_by_hand(draft, m, key, t)
    return None


def put_by_hand(draft: Draft, m: ModuleId, key: str, t: TensorId) -> None:
    """`m._parameters[key] = t`: whatever it is, and whatever has the name."""
    module = draft.edit_module(m)
    module.parameters = _with(module.parameters, key, t)


def register_buffer(draft: Draft, m: ModuleId, key: str, t: TensorId) -> Stop | None:
    """`m.register_buffer(key, t)`: any tensor under a name that is not taken."""
    module = draft.edit_module(m)
    listed = (module.attributes, module.parameters, module.children)
    if any(key in _names(one) for one in listed) and key not in _names(module.buffers):
        # [module/name-taken]
        return Refusal("module/name-taken", key, (("key", key),))
    module.buffers = _with(module.buffers, key, t)
    return None


def set_attribute(draft: Draft, m: ModuleId, key: str, t: TensorId) -> Stop | None:
    """
    `m.key = t`: a parameter is registered, whatever has the name.

    So is an `nn.Buffer`, and what takes the name of a buffer; another tensor becomes
    an attribute that no conversion looks at.

    Source: `Module.__setattr__`, before which an `RNNBase` does its own.
    """
    module = draft.edit_module(m)
    names = module.flat_weights_names
    if key in names:
        # [module/flat-weight-first] Before anything is looked at.
        listed = zip(names, module.flat_weights, strict=True)
        module.flat_weights = tuple(t if name == key else old for name, old in listed)
    if tensors.is_parameter(draft, t):
        module.attributes = _without(module.attributes, key)
        module.buffers = _without(module.buffers, key)
        module.children = _without(module.children, key)
        return register_parameter(draft, m, key, t)
    if key in _names(module.parameters):
        # [module/parameter-expected]
        return _refusal_of("module/parameter-expected", draft, key, t)
    if key in _names(module.children):
        # [module/child-expected]
        return _refusal_of("module/child-expected", draft, key, t)
    if tensors.is_buffer(draft, t) or key in _names(module.buffers):
        return register_buffer(draft, m, key, t)
    module.attributes = _with(module.attributes, key, t)
    return None


def _refusal_of(rule: str, draft: Draft, key: str, t: TensorId) -> Refusal:
    """A refusal whose text says which type of tensor is not the right one."""
    impl = draft.impl_of(t)
    facts = (("key", key), ("dtype", impl.dtype), ("device", impl.device))
    return Refusal(rule, key, facts)


def delete_attribute(draft: Draft, m: ModuleId, place: str, key: str) -> Stop | None:
    """`del m.key`: the first with that name, what is registered before others."""
    module = draft.edit_module(m)
    if key in _names(module.parameters):
        module.parameters = _without(module.parameters, key)
    elif key in _names(module.buffers):
        module.buffers = _without(module.buffers, key)
    elif key in _names(module.children):
        module.children = _without(module.children, key)
    elif key in _names(module.attributes):
        module.attributes = _without(module.attributes, key)
    else:
        # [place/absent]
        return Refusal("place/absent", f"{place}.{key}")
    return None


# -- The flat weights of an `RNNBase` ------------------------------------------------


def flat_weights(state: Columns, module: Module) -> tuple[TensorId | None, ...]:
    """What stands now under the names of a module's flat weights."""
    found = dict(reversed(held(module)))
    return tuple(found.get(one) for one in module.flat_weights_names)


def init_flat_weights(draft: Draft, m: ModuleId) -> None:
    """`m._init_flat_weights()`: list them, and take a weak reference of each."""
    module = draft.edit_module(m)
    module.flat_weights = flat_weights(draft, module)
    module.flat_weight_refs = tuple(
        None if t is None else weakrefs.take(draft, "ReferenceType", t)
        for t in module.flat_weights
    )
