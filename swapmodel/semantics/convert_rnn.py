"""
What does an `RNNBase` do around `nn.Module._apply`, and before it is copied?

It lists its weights a second time, and refers to each weakly, so as to see whether
somebody has replaced one.
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop
from swapmodel.semantics import modules, ownership, spec
from swapmodel.semantics.convert_gradient import CALL
from swapmodel.semantics.spec import Frame, phase, when_refused
from swapmodel.state.draft import Draft
from swapmodel.state.ids import ModuleId

spec.operation("convert_rnn", *CALL)
spec.operation("copy_rnn", "module")


def is_rnn(draft: Draft, m: ModuleId) -> bool:
    """Whether a module's class derives from `RNNBase`."""
    return bool(draft.module(m).flat_weights_names)


# -- Around a conversion -------------------------------------------------------------


@phase("suspend-weakrefs", "convert_rnn", reads=CALL)
def suspend_weakrefs(draft: Draft, frame: Frame) -> Stop | None:
    """`self._flat_weight_refs = []`: they die at once, pytorch#122800."""
    draft.edit_module(frame.module).flat_weight_refs = ()
    ownership.collect(draft)
    return None


@phase("module", "convert_rnn", reads=CALL)
def convert_module(draft: Draft, frame: Frame) -> Stop | None:
    """`super()._apply(fn)`."""
    return spec.run(draft, frame, "convert_module")


@phase("restore-weakrefs", "convert_rnn", reads=CALL)
def restore_weakrefs(draft: Draft, frame: Frame) -> Stop | None:
    """`self._init_flat_weights()`, which no release does after an exception."""
    modules.init_flat_weights(draft, frame.module)
    return None


@when_refused("restore-weakrefs", "convert_rnn")
def restored_anyway(draft: Draft, frame: Frame, refusal: Refusal) -> Refusal | None:
    """`self._init_flat_weights()` in a `finally`, as a proposal may have it."""
    modules.init_flat_weights(draft, frame.module)
    return None


# -- Before a copy -------------------------------------------------------------------


@phase("require-weakrefs", "copy_rnn", reads=("module",))
def require_weakrefs(draft: Draft, frame: Frame) -> Stop | None:
    """Refuse a module that an exception has left without its weak references."""
    if not draft.module(frame.module).flat_weight_refs:
        # [module/weakrefs-lost]
        return Refusal("module/weakrefs-lost")
    return None


@phase("refresh-flat-weights", "copy_rnn", reads=("module",))
def refresh_flat_weights(draft: Draft, frame: Frame) -> Stop | None:
    """`self._update_flat_weights()`: list the weights again if one was replaced."""
    module = draft.module(frame.module)
    pairs = zip(
        module.flat_weight_refs, modules.flat_weights(draft, module), strict=False
    )
    if any(
        w is not None and t is not None and draft.weakref(w).tensor != t
        for w, t in pairs
    ):
        modules.init_flat_weights(draft, frame.module)
    return None
