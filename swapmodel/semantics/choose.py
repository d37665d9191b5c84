"""
By which path is a tensor converted?  Predicates for the rows that a spec lists.
"""

from __future__ import annotations

from swapmodel.semantics import set_data
from swapmodel.semantics.spec import Frame, predicate
from swapmodel.state.classes import tensor_class
from swapmodel.state.draft import Draft
from swapmodel.state.events import Converted, Path, Role
from swapmodel.state.heap import Columns
from swapmodel.state.ids import TensorId


def choose(draft: Draft, frame: Frame, role: Role, t: TensorId) -> Path:
    """Take the path of the first row of the spec that applies, and note it."""
    path = frame.spec.path(role, draft, frame)
    draft.events.append(Converted(t, role, path))
    return path


@predicate("swap-flag", "parameter")
def swap_flag(draft: Draft, frame: Frame) -> bool:
    """`torch.__future__.get_swap_module_params_on_conversion()`."""
    return draft.flags.swap


@predicate("no-overwrite-flag", "parameter", "gradient")
def no_overwrite_flag(draft: Draft, frame: Frame) -> bool:
    """Not `torch.__future__.get_overwrite_module_params_on_conversion()`."""
    return not draft.flags.overwrite


@predicate("result-is-wrapper", "parameter")
def result_is_wrapper(draft: Draft, frame: Frame) -> bool:
    """`is_traceable_wrapper_subclass(param_applied)`, pytorch#122755."""
    return is_traceable_wrapper_subclass(draft, frame.applied)


TRACEABLE = ("__tensor_flatten__", "__tensor_unflatten__")
"""What makes a class traceable, or one tensor of a class other than `Tensor`."""


def is_traceable_wrapper_subclass(state: Columns, t: TensorId) -> bool:
    """`hasattr` of both methods, which an attribute of the tensor itself satisfies."""
    tensor = state.tensor(t)
    own = dict(tensor.attributes)
    by_itself = tensor.cls != "Tensor" and all(name in own for name in TRACEABLE)
    return by_itself or tensor_class(tensor.cls).traceable


@predicate("was-fake", "parameter")
def was_fake(draft: Draft, frame: Frame) -> bool:
    """`isinstance(param, FakeTensor)`, pytorch#152539."""
    return tensor_class(draft.tensor(frame.param).cls).fake


@predicate("result-is-not-fake", "parameter")
def result_is_not_fake(draft: Draft, frame: Frame) -> bool:
    """Not `isinstance(param_applied, FakeTensor)`, pytorch#161291."""
    return not tensor_class(draft.tensor(frame.applied).cls).fake


@predicate("result-is-not-fake", "gradient")
def gradient_is_not_fake(draft: Draft, frame: Frame) -> bool:
    """Not `isinstance(grad_applied, FakeTensor)`, pytorch#161291."""
    return not tensor_class(draft.tensor(frame.gradient_applied).cls).fake


@predicate("compatible-type", "parameter")
def parameter_compatible(draft: Draft, frame: Frame) -> bool:
    """Whether `param.data = param_applied` would be accepted."""
    return set_data.compatible(draft, frame.param, frame.applied)


@predicate("parameter-swapped", "gradient")
def parameter_swapped(draft: Draft, frame: Frame) -> bool:
    """Whether the parameter of this gradient took the swap path."""
    return frame.path == "swap"


@predicate("compatible-type", "gradient")
def gradient_compatible(draft: Draft, frame: Frame) -> bool:
    """Whether `param_grad.data = grad_applied` would be accepted."""
    assert frame.gradient is not None
    return set_data.compatible(draft, frame.gradient, frame.gradient_applied)
