"""
What can be asked of a tensor, in torch and in the model?

One table: the scripts put the torch side beside the model's answer, and the words
for what a step changed are the questions whose answers differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import frozen

from swapmodel.report.spelling import dtype
from swapmodel.semantics import ownership, payloads
from swapmodel.semantics.payloads import MODULUS, Dense
from swapmodel.state.classes import tensor_class
from swapmodel.state.heap import Columns
from swapmodel.state.ids import HooksId, NodeId, TensorId

Answer = Callable[[Columns, TensorId], str | None]


@frozen
class Question:
    """One question and how the model answers it."""

    code: str
    """The torch expression, with `{t}` for the tensor."""

    answer: Answer
    """The value as Python source; `None` where it is better not asked."""

    comparable: bool = True
    """Whether torch's answer can be compared with the model's: no address can."""

    needs: str = ""
    """The method of `torch.Tensor` without which it cannot be asked."""

    words: str = ""
    """How it reads where nobody runs it, if not as the code."""


def code(question: Question, t: str) -> str:
    """The question about the tensor that the expression *t* gives."""
    return question.code.replace("{t}", t)


def words(question: Question, t: str) -> str:
    """The question about *t* for people."""
    return (question.words or question.code).replace("{t}", t)


def answers(state: Columns, t: TensorId) -> dict[str, str]:
    """What the model answers of one tensor, by the code of the question."""
    found = ((one.code, one.answer(state, t)) for one in QUESTIONS)
    return {asked: answer for asked, answer in found if answer is not None}


# -- The Python object -------------------------------------------------------------


def _parameter(state: Columns, t: TensorId) -> str:
    tensor = state.tensor(t)
    return str(tensor.is_param or tensor_class(tensor.cls).parameter)


def _attributes(state: Columns, t: TensorId) -> str:
    return repr(dict(state.tensor(t).attributes))


def _listed(state: Columns, t: TensorId) -> str:
    listed = state.tensor(t).backward_hooks
    return str(0 if listed is None else len(state.hooks_at(listed).entries))


# -- The impl ----------------------------------------------------------------------


def _values(state: Columns, t: TensorId) -> str | None:
    payload = payloads.read(state, t)
    if not isinstance(payload, Dense) or payload.values is None:
        return None
    return repr(list(payload.values))


def _storage(state: Columns, t: TensorId) -> str:
    storage = state.impl_of(t).storage
    return "null" if storage is None else f"storage {storage}"


def _use_count(state: Columns, t: TensorId) -> str:
    return str(sum(1 for _ in ownership.owners(state, state.tensor(t).impl)))


# -- What autograd knows -----------------------------------------------------------


def _grad_fn(state: Columns, t: TensorId) -> str:
    node = state.meta_of(t).grad_fn
    return repr("NoneType" if node is None else state.node(node).name)


def _no_grad(state: Columns, t: TensorId) -> str | None:
    meta = state.meta_of(t)
    return None if meta.grad_fn is not None else str(meta.grad is None)


def _requires_grad(state: Columns, t: TensorId) -> str:
    meta = state.meta_of(t)
    return str(meta.requires_grad or meta.grad_fn is not None)


def firing(state: Columns, t: TensorId) -> tuple[str, ...]:
    """The labels of the hooks that would fire for a gradient of *t*."""
    meta = state.meta_of(t)
    dicts: tuple[HooksId, ...] = meta.hooks
    if meta.grad_fn is not None:
        dicts = state.node(meta.grad_fn).hooks
    return tuple(label for one in dicts for label in state.hooks_at(one).entries)


def nodes_behind(state: Columns, t: TensorId) -> Iterator[NodeId]:
    """The nodes that a backward from *t* would run, *t*'s own accumulator included."""
    meta = state.meta_of(t)
    first = meta.accumulator if meta.grad_fn is None else meta.grad_fn
    todo, seen = [first], set[NodeId]()
    while todo:
        n = todo.pop()
        if n is None or n in seen or state.nodes[n] is None:
            continue
        seen.add(n)
        yield n
        todo.extend(state.node(n).edges)


def _poisoned(state: Columns, t: TensorId) -> str:
    return str(any(state.node(n).poisoned for n in nodes_behind(state, t)))


VALUES = Question(
    f"[int(one.real) % {MODULUS} for one in {{t}}.tolist()]",
    _values,
    words=f"{{t}}.tolist() modulo {MODULUS}",
)
"""What a tensor without inner tensors holds."""

QUESTIONS: tuple[Question, ...] = (
    Question("id({t})", lambda state, t: f"object {t}", comparable=False),
    Question("type({t}).__name__", lambda state, t: repr(state.tensor(t).cls)),
    Question("isinstance({t}, torch.nn.Parameter)", _parameter),
    Question(
        "{k: v for k, v in vars({t}).items() if type(v) is int}",
        _attributes,
        words="attributes of {t}",
    ),
    Question("len({t}._backward_hooks or ())", _listed, words="hooks listed by {t}"),
    Question(
        "{t}._cdata", lambda state, t: f"impl {state.tensor(t).impl}", comparable=False
    ),
    Question("{t}.dtype", lambda state, t: dtype(state.impl_of(t).dtype)),
    Question("{t}.device.type", lambda state, t: repr(state.impl_of(t).device)),
    Question("{t}.numel()", lambda state, t: str(state.impl_of(t).length)),
    Question("{t}.untyped_storage()", _storage, comparable=False),
    VALUES,
    Question(
        "{t}._version", lambda state, t: str(state.version(state.impl_of(t).counter))
    ),
    Question("{t}.requires_grad", _requires_grad),
    Question("type({t}.grad_fn).__name__", _grad_fn),
    Question("{t}.grad is None", _no_grad),
    Question("{t}._use_count()", _use_count, needs="_use_count"),
    Question(
        "hooks that fire for {t}",
        lambda state, t: repr(list(firing(state, t))),
        comparable=False,
    ),
    Question("poison behind {t}", _poisoned, comparable=False),
)
"""Everything that is asked, identity first."""
