"""
What does `nn.Module._apply` do to a module, parameter by parameter?

One frame serves a whole call, as the local variables of the function do: what one
parameter leaves in them lives until the next one, or the end.
"""

from __future__ import annotations

from swapmodel.conversions import ConversionFn
from swapmodel.outcomes import Refusal, Stop, raised_after
from swapmodel.semantics import (
    apply_fn,
    autograd_meta,
    edges,
    functions,
    methods,
    set_data,
    spec,
    swap,
    tensors,
)
from swapmodel.semantics.choose import choose
from swapmodel.semantics.convert_gradient import CALL, GRADIENT, PARAMETER, refusal_of
from swapmodel.semantics.convert_rnn import is_rnn
from swapmodel.semantics.spec import Calls, Frame, Spec, phase, when_refused
from swapmodel.state.draft import Draft
from swapmodel.state.events import Converted
from swapmodel.state.ids import ModuleId, TensorId

CHOSEN = (*PARAMETER, "applied", "path", "gradient")

spec.operation("convert_module", *CALL)
spec.operation("convert_parameter", *PARAMETER)
spec.operation("convert_parameter/data", *CHOSEN)
spec.operation("convert_parameter/swap", *CHOSEN)
spec.operation("convert_parameter/assign", *CHOSEN)
spec.operation("convert_buffer", *CALL, "key", "buffer")


def convert(draft: Draft, frame: Frame, m: ModuleId, fn: ConversionFn) -> Stop | None:
    """
    Apply *fn* to every tensor of a module and of its children, children first.

    A refusal leaves what was converted before converted.  Source:
    `torch.nn.Module._apply`.
    """
    if refused := functions.refused(fn):
        return refused
    return _apply(draft, frame.spec, m, fn, Calls())


def _apply(
    draft: Draft, under: Spec, m: ModuleId, fn: object, calls: Calls
) -> Stop | None:
    call = Frame(under)
    call.module, call.fn, call.calls = m, fn, calls
    name = "convert_rnn" if is_rnn(draft, m) else "convert_module"
    return spec.call(draft, call, name)


# -- The order of things -------------------------------------------------------------


@phase("children", "convert_module", reads=CALL)
def children(draft: Draft, frame: Frame) -> Stop | None:
    """Convert every child, one that is registered twice only once."""
    done: list[ModuleId] = []
    for _, child in draft.module(frame.module).children:
        if child in done:
            continue
        done.append(child)
        stop = _apply(draft, frame.spec, child, frame.fn, frame.calls)
        if stop is not None:
            return stop
    return None


@phase("parameters", "convert_module", reads=CALL)
def parameters(draft: Draft, frame: Frame) -> Stop | None:
    """Convert every parameter, one that is registered twice also twice."""
    for key, param in draft.module(frame.module).parameters:
        if param is None:
            continue
        frame.key, frame.param = key, param
        stop = spec.run(draft, frame, "convert_parameter")
        if stop is not None:
            return stop
    return None


@phase("buffers", "convert_module", reads=CALL)
def buffers(draft: Draft, frame: Frame) -> Stop | None:
    """Convert every buffer, one that is registered twice also twice."""
    for key, buffer in draft.module(frame.module).buffers:
        if buffer is None:
            continue
        frame.key, frame.buffer = key, buffer
        stop = spec.run(draft, frame, "convert_buffer")
        if stop is not None:
            return stop
    return None


# -- One parameter -------------------------------------------------------------------


@phase(
    "call-fn",
    "convert_parameter",
    reads=("fn", "calls", "param"),
    sets=("result",),
)
def call_fn(draft: Draft, frame: Frame) -> Stop | None:
    """Apply the function to the parameter, which still has its gradient."""
    return apply_fn.call_fn(draft, frame, frame.param)


@phase(
    "compatible-type",
    "convert_parameter",
    reads=("param", "result"),
    sets=("applied",),
)
def compatible_type(draft: Draft, frame: Frame) -> Stop | None:
    """Refuse a result that is no tensor, whatever the path; nothing has moved yet."""
    taken = apply_fn.taken(frame)
    if isinstance(taken, Stop):
        return taken
    frame.applied = taken
    return None


@phase("choose-path", "convert_parameter", reads=("param", "applied"), sets=("path",))
def choose_path(draft: Draft, frame: Frame) -> Stop | None:
    """Take the path of the first row of the spec that applies."""
    frame.path = choose(draft, frame, "parameter", frame.param)
    return None


@phase("take-gradient", "convert_parameter", reads=("param",), sets=("gradient",))
def take_gradient(draft: Draft, frame: Frame) -> Stop | None:
    """Keep `param.grad` in a local variable."""
    frame.gradient = draft.grad_of(frame.param)
    return None


@phase("convert", "convert_parameter", reads=CHOSEN, sets=("out",))
def convert_parameter(draft: Draft, frame: Frame) -> Stop | None:
    """Convert the parameter on the path that was chosen."""
    stop = methods.declined(draft, frame.param, frame.applied)
    if stop is not None:
        return stop
    return spec.run(draft, frame, f"convert_parameter/{frame.path}")


@phase("gradient", "convert_parameter", reads=GRADIENT)
def convert_gradient(draft: Draft, frame: Frame) -> Stop | None:
    """Convert the gradient that the parameter had, if it had one."""
    if frame.gradient is None:
        return None
    return spec.run(draft, frame, "convert_gradient")


@phase("set-data", "convert_parameter/data", reads=CHOSEN, sets=("out",))
def parameter_set_data(draft: Draft, frame: Frame) -> Stop | None:
    """`param.data = param_applied`."""
    frame.out = frame.param
    return set_data.set_data(draft, frame, frame.param, frame.applied)


@phase("clear-gradient", "convert_parameter/swap", reads=CHOSEN)
def clear_gradient(draft: Draft, frame: Frame) -> Stop | None:
    """`param.grad = None`, so that the parameter owns its gradient no more."""
    if frame.gradient is not None:
        draft.edit_meta(draft.tensor(frame.param).impl).grad = None
    return None


@phase(
    "make-parameter",
    "convert_parameter/swap",
    "convert_parameter/assign",
    reads=CHOSEN,
)
def make_parameter(draft: Draft, frame: Frame) -> Stop | None:
    """`Parameter(param_applied, requires_grad=param.requires_grad)`."""
    needs_grad = autograd_meta.requires_grad(draft, frame.param)
    made = tensors.make_parameter(draft, frame.applied, requires_grad=needs_grad)
    if isinstance(made, Stop):
        return made
    frame.applied = made
    return None


@phase("swap", "convert_parameter/swap", reads=CHOSEN, sets=("out",))
def parameter_swap(draft: Draft, frame: Frame) -> Stop | None:
    """`swap_tensors(param, param_applied)`."""
    frame.out = frame.param
    return swap.swap_tensors(draft, frame, frame.param, frame.applied)


@phase("require-parameter", "convert_parameter/assign", reads=CHOSEN)
def require_parameter(draft: Draft, frame: Frame) -> Stop | None:
    """Refuse what was registered without being a `Parameter`."""
    if not tensors.is_parameter(draft, frame.param):
        # [convert/not-a-parameter]
        return Refusal("convert/not-a-parameter")
    return None


@phase("require-leaf", "convert_parameter/assign", reads=CHOSEN)
def require_leaf(draft: Draft, frame: Frame) -> Stop | None:
    """Refuse a registered tensor that a graph computed."""
    # [convert/not-a-leaf]
    return edges.unless_leaf(draft, frame.param, Refusal("convert/not-a-leaf"))


@phase("register", "convert_parameter/assign", reads=CHOSEN, sets=("out",))
def register(draft: Draft, frame: Frame) -> Stop | None:
    """`self._parameters[key] = out_param`."""
    frame.out = frame.applied
    module = draft.edit_module(frame.module)
    module.parameters = _replaced(module.parameters, frame.key, frame.out)
    return None


def _replaced(
    registered: tuple[tuple[str, TensorId | None], ...], key: str, t: TensorId | None
) -> tuple[tuple[str, TensorId | None], ...]:
    return tuple((name, t if name == key else one) for name, one in registered)


# -- One buffer ----------------------------------------------------------------------


@phase("call-fn", "convert_buffer", reads=("fn", "calls", "buffer"), sets=("result",))
def call_fn_on_buffer(draft: Draft, frame: Frame) -> Stop | None:
    """Apply the function to the buffer, outside `no_grad`."""
    stop = apply_fn.call_fn(draft, frame, frame.buffer, grad_mode=True)
    if stop is not None:
        return stop
    draft.events.append(Converted(frame.buffer, "buffer", "replace"))
    return None


@phase("replace", "convert_buffer", reads=("module", "key", "buffer", "result"))
def replace_buffer(draft: Draft, frame: Frame) -> Stop | None:
    """`self._buffers[key] = ...`, whatever the flags say, and be it `None`."""
    found = (frame.buffer,) if frame.result is None else (frame.buffer, frame.result)
    stop = methods.declined(draft, *found)
    if stop is not None:
        return stop
    module = draft.edit_module(frame.module)
    module.buffers = _replaced(module.buffers, frame.key, frame.result)
    frame.result = None
    return None


# -- What `except` does --------------------------------------------------------------


@when_refused("reattach-gradient", "convert_parameter/swap")
def reattach_gradient(draft: Draft, frame: Frame, refusal: Refusal) -> Refusal | None:
    """`param.grad = param_grad`: the same object; if it does not fit, it is lost."""
    if frame.gradient is None:
        return None
    raised = autograd_meta.set_grad(draft, frame.param, frame.gradient)
    if raised is None:
        return None
    assert isinstance(raised, Refusal)
    return raised_after(refusal, raised)


@when_refused("could-not-swap", "convert_parameter/swap")
def could_not_swap(draft: Draft, frame: Frame, refusal: Refusal) -> Refusal:
    """`raise RuntimeError(...) from e`."""
    # [convert/could-not-swap]
    raised = refusal_of("convert/could-not-swap", draft, frame)
    return raised_after(refusal, raised)
