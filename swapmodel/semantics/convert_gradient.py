"""
What does `nn.Module._apply` do to the gradient that a parameter had?
"""

from __future__ import annotations

from swapmodel.outcomes import Refusal, Stop, raised_after
from swapmodel.semantics import (
    apply_fn,
    autograd_meta,
    edges,
    methods,
    set_data,
    spec,
    swap,
)
from swapmodel.semantics.choose import choose
from swapmodel.semantics.spec import Frame, phase, when_refused
from swapmodel.state.draft import Draft

CALL = ("module", "fn", "calls")
PARAMETER = (*CALL, "key", "param")
GRADIENT = (*PARAMETER, "gradient", "out", "path")
GRADIENT_CHOSEN = (*GRADIENT, "gradient_applied", "gradient_path")

spec.operation("convert_gradient", *GRADIENT)
spec.operation("convert_gradient/data", *GRADIENT_CHOSEN)
spec.operation("convert_gradient/swap", *GRADIENT_CHOSEN)
spec.operation("convert_gradient/assign", *GRADIENT_CHOSEN)


@phase(
    "call-fn",
    "convert_gradient",
    reads=("fn", "calls", "gradient"),
    sets=("result",),
)
def call_fn_on_gradient(draft: Draft, frame: Frame) -> Stop | None:
    """Apply the function to the gradient; the parameter is converted by now."""
    assert frame.gradient is not None
    return apply_fn.call_fn(draft, frame, frame.gradient)


@phase(
    "compatible-type",
    "convert_gradient",
    reads=("gradient", "result"),
    sets=("gradient_applied",),
)
def gradient_compatible_type(draft: Draft, frame: Frame) -> Stop | None:
    """Refuse a result that is no tensor, whatever the path."""
    taken = apply_fn.taken(frame)
    if isinstance(taken, Stop):
        return taken
    frame.gradient_applied = taken
    return None


@phase(
    "choose-path",
    "convert_gradient",
    reads=("path", "gradient", "gradient_applied"),
    sets=("gradient_path",),
)
def choose_gradient_path(draft: Draft, frame: Frame) -> Stop | None:
    """Take the path of the first row of the spec that applies to gradients."""
    assert frame.gradient is not None
    frame.gradient_path = choose(draft, frame, "gradient", frame.gradient)
    return None


@phase("convert", "convert_gradient", reads=GRADIENT_CHOSEN)
def convert_gradient_on_path(draft: Draft, frame: Frame) -> Stop | None:
    """Convert the gradient on the path that was chosen."""
    assert frame.gradient is not None
    stop = methods.declined(draft, frame.gradient, frame.gradient_applied)
    if stop is not None:
        return stop
    return spec.run(draft, frame, f"convert_gradient/{frame.gradient_path}")


@phase("require-attached", "convert_gradient/data", reads=GRADIENT_CHOSEN)
def require_attached(draft: Draft, frame: Frame) -> Stop | None:
    """Refuse when the converted parameter has no gradient to write to."""
    if draft.meta_of(frame.out).grad is None:
        # [convert/no-gradient]
        return Refusal("convert/no-gradient")
    return None


@phase("set-data", "convert_gradient/data", reads=GRADIENT_CHOSEN)
def gradient_set_data(draft: Draft, frame: Frame) -> Stop | None:
    """`out_param.grad.data = grad_applied`."""
    grad = draft.grad_of(frame.out)
    assert grad is not None
    return set_data.set_data(draft, frame, grad, frame.gradient_applied)


@phase(
    "require-grad",
    "convert_gradient/swap",
    "convert_gradient/assign",
    reads=GRADIENT_CHOSEN,
)
def gradient_requires_grad(draft: Draft, frame: Frame) -> Stop | None:
    """`grad_applied.requires_grad_(param_grad.requires_grad)`."""
    assert frame.gradient is not None
    needs_grad = autograd_meta.requires_grad(draft, frame.gradient)
    return autograd_meta.set_requires_grad(draft, frame.gradient_applied, needs_grad)


@phase("swap", "convert_gradient/swap", reads=GRADIENT_CHOSEN)
def gradient_swap(draft: Draft, frame: Frame) -> Stop | None:
    """`swap_tensors(param_grad, grad_applied)`."""
    assert frame.gradient is not None
    return swap.swap_tensors(draft, frame, frame.gradient, frame.gradient_applied)


@phase("require-leaf", "convert_gradient/assign", reads=GRADIENT_CHOSEN)
def gradient_leaf(draft: Draft, frame: Frame) -> Stop | None:
    """Refuse a gradient that a graph computed."""
    assert frame.gradient is not None
    # [convert/gradient-not-a-leaf]
    refusal = Refusal("convert/gradient-not-a-leaf")
    return edges.unless_leaf(draft, frame.gradient, refusal)


@phase("attach", "convert_gradient", reads=GRADIENT_CHOSEN)
def attach(draft: Draft, frame: Frame) -> Stop | None:
    """`out_param.grad = ...`, unless the gradient took `.data` and hangs there yet."""
    if frame.gradient_path == "data":
        return None
    swapped = frame.gradient_path == "swap"
    attached = frame.gradient if swapped else frame.gradient_applied
    assert attached is not None
    return autograd_meta.set_grad(draft, frame.out, attached)


@when_refused("could-not-swap-gradient", "convert_gradient/swap", around=("swap",))
def could_not_swap_gradient(draft: Draft, frame: Frame, refusal: Refusal) -> Refusal:
    """
    `raise RuntimeError(...) from e`; the gradient stays detached.

    `requires_grad_` stands before the `try` and raises by itself.
    """
    # [convert/could-not-swap-gradient]
    raised = refusal_of("convert/could-not-swap-gradient", draft, frame)
    return raised_after(refusal, raised)


def refusal_of(rule: str, draft: Draft, frame: Frame) -> Refusal:
    """A refusal that names the module's class and the key of the parameter."""
    name = draft.module(frame.module).cls
    return Refusal(rule, frame.key, (("module", name), ("key", frame.key)))
