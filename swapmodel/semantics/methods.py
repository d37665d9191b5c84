"""
What does a tensor's class make of a call: refuse it, or convert what it gives?

Source: `__torch_function__` of `torch.Tensor` and of `UninitializedTensorMixin`.
"""

from __future__ import annotations

from swapmodel.actions import WITHOUT_METHODS, Action
from swapmodel.outcomes import Refusal, Stop, Unmodelled
from swapmodel.semantics import payloads, tensors
from swapmodel.semantics.forward import record, recorded_edges
from swapmodel.semantics.places import Found
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Columns, living
from swapmodel.state.ids import TensorId

FAKE = Unmodelled("what a FakeTensor does depends on the history of its mode")


COUNTER = Unmodelled("Adam's counter of steps is a tensor without a dimension")


def refusal(state: Columns, action: Action, operand: Found) -> Stop | None:
    """What the class of an operand says to an action before it runs."""
    kind, position = operand
    if kind != "tensor":
        return None
    if not isinstance(action, WITHOUT_METHODS):
        refused = lazy(state, TensorId(position))
        if refused is not None:
            return refused
    stop = declined(state, TensorId(position))
    if stop is not None:
        return stop
    if state.optimizers and is_counter(state, TensorId(position)):
        return COUNTER
    return None


def lazy(state: Columns, *operands: TensorId) -> Refusal | None:
    """What a class that knows no method answers to a call, if one operand has it."""
    for t in operands:
        known = tensor_class(state.tensor(t).cls)
        if known.uninitialized:
            # [class/uninitialized]
            return Refusal("class/uninitialized", known.name)
    return None


def declined(state: Columns, *operands: TensorId) -> Stop | None:
    """What moves behind a choice of path is not told of a FakeTensor."""
    fake = any(tensor_class(state.tensor(t).cls).fake for t in operands)
    return FAKE if fake else None


def is_counter(state: Columns, t: TensorId) -> bool:
    """Whether *t* is `opt.state[p]["step"]`, which must not come to stand elsewhere."""
    return any(
        ("step", t) in entry.tensors
        for _, optimizer in living(state.optimizers)
        for entry in optimizer.state
    )


def returned(
    draft: Draft,
    t: TensorId,
    made: TensorId | Stop,
    *others: TensorId,
    grad_mode: bool = True,
) -> TensorId | Stop:
    """
    What a call on *t* and *others* gives when *made* is what it computes.

    A class that converts makes a view of the result, in a graph if there is one; what
    a FakeTensor makes is one.
    """
    classes = [tensor_class(draft.tensor(one).cls) for one in (t, *others)]
    known = next((one for one in classes if one.converts), classes[0])
    if isinstance(made, Stop):
        return made
    if known.fake:
        draft.edit_tensor(made).cls = known.name
    if not known.converts:
        return made
    if draft.tensor(made).cls == known.name:
        return made
    payload = payloads.outline(draft, made)
    if isinstance(payload, payloads.Wrapped):
        facts = (("class", known.name), ("found", payload.cls))
        # [class/as-subclass]
        return Refusal("class/as-subclass", facts=facts)
    if not isinstance(payload, payloads.Dense):
        return payload
    out = tensors.as_subclass(draft, made, known.name, grad_mode=grad_mode)
    edges = recorded_edges(draft, (made,), grad_mode)
    assert edges is None or isinstance(edges, tuple), "what was just made is not stale"
    record(draft, "alias", (made,), edges, out)
    return out
