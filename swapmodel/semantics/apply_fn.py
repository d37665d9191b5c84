"""
How does a conversion call its function?
"""

from __future__ import annotations

from typing import cast

from swapmodel.conversions import ConversionFn, ToDevice
from swapmodel.outcomes import Refusal, Stop, raised_after
from swapmodel.semantics import functions, spec
from swapmodel.semantics.spec import Frame, phase, when_refused
from swapmodel.state.draft import Draft
from swapmodel.state.ids import TensorId

CALLED = ("fn", "calls", "argument", "grad_mode")

spec.operation("call_fn", *CALLED)


def call_fn(
    draft: Draft, frame: Frame, t: TensorId, *, grad_mode: bool = False
) -> Stop | None:
    """Call the conversion's function with *t*, and keep its result."""
    frame.argument, frame.grad_mode = t, grad_mode
    frame.calls.count += 1
    return spec.run(draft, frame, "call_fn")


@phase("call", "call_fn", reads=CALLED, sets=("result",))
def call(draft: Draft, frame: Frame) -> Stop | None:
    """`fn(t)`, under `no_grad` unless *t* is a buffer."""
    result = functions.call(
        draft,
        cast(ConversionFn, frame.fn),
        frame.argument,
        number=frame.calls.count,
        grad=frame.grad_mode,
    )
    if result is None or isinstance(result, int):
        frame.result = result
        return None
    return result


@when_refused("hint-to-empty", "call_fn")
def hint_to_empty(draft: Draft, frame: Frame, refusal: Refusal) -> Refusal | None:
    """`raise NotImplementedError(...) from None`: names `to_empty`, in `m.to` alone."""
    if refusal.rule != "device/no-data" or not isinstance(frame.fn, ToDevice):
        return None
    # [convert/hint-to-empty]
    return raised_after(refusal, Refusal("convert/hint-to-empty"))


def taken(frame: Frame) -> TensorId | Refusal:
    """
    The result as `_has_compatible_shallow_copy_type` takes it.

    Refuses what is no tensor; torch asks on every path, before the path is chosen.
    """
    result, frame.result = frame.result, None
    if result is None:
        # [convert/no-tensor]
        return Refusal("convert/no-tensor")
    return result
