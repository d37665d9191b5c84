"""Heaps, specs and programs that the tests of several chapters share."""

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import attrs
from hypothesis import strategies as st

from swapmodel.actions import ACTIONS, Action, Program
from swapmodel.outcomes import Done, OutOfScope, Refused
from swapmodel.semantics.places import resolve
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.specfiles.read import load_spec
from swapmodel.state.build import Builder
from swapmodel.state.heap import COLUMNS, Heap
from swapmodel.state.ids import TensorId

spec = cache(load_spec)

NO_SWAP, LATE, NEW = "torch-2.1", "torch-2.3", "torch-2.13"
"""Without a swap; with checks that come late; the newest one."""


def module(
    cls: str = "Parameter",
    *,
    swap: bool = False,
    overwrite: bool = False,
    grad: bool = True,
    buffer: bool = False,
) -> Heap:
    """
    A module with `m.weight` and, by default, its gradient; beside it `p` and `t`.

    `p` is another parameter of the same class, `t` a plain tensor.
    """
    build = Builder(swap=swap, overwrite=overwrite)
    inner = cls if cls != "Parameter" else "Tensor"
    weight = build.parameter((1, 2), cls=cls)
    if grad:
        build.gradient(weight, build.tensor((1, 1), cls=inner))
    running = build.tensor((7, 7)) if buffer else None
    m = build.module({"weight": weight}, buffers={"running": running})
    build.name("m", "module", m)
    build.name("p", "tensor", build.parameter((3, 4), cls=cls))
    build.name("t", "tensor", build.tensor((5, 6)))
    return build.heap()


def at(heap: Heap, place: str) -> TensorId:
    """The tensor at a place, which must be there."""
    found = resolve(heap, place)
    assert found is not None
    assert found[0] == "tensor"
    return TensorId(found[1])


def done(heap: Heap, *program: Action, under: str = NEW) -> Heap:
    """The heap after a program of which nothing is refused."""
    for action in program:
        outcome = step(heap, action, spec(under))
        assert isinstance(outcome, Done), (action, outcome)
        heap = outcome.heap
    return heap


def refused(heap: Heap, action: Action, under: str = NEW) -> Refused:
    """What a refused action comes to."""
    outcome = step(heap, action, spec(under))
    assert isinstance(outcome, Refused), outcome
    return outcome


def values(heap: Heap, place: str) -> tuple[int, ...] | None:
    """The elements of the plain tensor at a place."""
    impl = heap.impl_of(at(heap, place))
    assert impl.storage is not None
    held = heap.storage(impl.storage).values
    return None if held is None else held[impl.offset : impl.offset + impl.length]


def with_row(heap: Heap, column: str, position: int, **fields: Any) -> Heap:
    """The same heap with another thing at one position of a column."""
    rows: list[Any] = list(getattr(heap, column))
    rows[position] = attrs.evolve(rows[position], **fields)
    columns: Any = {column: tuple(rows)}
    return attrs.evolve(heap, **columns)


def trimmed(heap: Heap) -> Heap:
    """The same heap without what an action made and lost again."""
    columns: Any = {}
    for column in COLUMNS:
        rows = list(getattr(heap, column))
        while rows and rows[-1] is None:
            rows.pop()
        columns[column] = tuple(rows)
    return attrs.evolve(heap, **columns)


def runs(start: Heap, program: Program, under: Spec) -> list[Heap]:
    """Every heap of a program, up to where it ends."""
    heaps = [start]
    for action in program:
        outcome = step(heaps[-1], action, under)
        if isinstance(outcome, OutOfScope):
            break
        heaps.append(outcome.heap)
        if not isinstance(outcome, Done | Refused):
            break
    return heaps


# -- Random programs -------------------------------------------------------------------

STARTS = tuple(
    module(cls, swap=swap, overwrite=overwrite, buffer=True)
    for cls in ("Parameter", "TwoTensor")
    for swap in (False, True)
    for overwrite in (False, True)
)

TENSORS = ("m.weight", "p", "t", "m.weight.grad", "m.running", "m.weight.a", "y", "v")
DRAWN = {
    "name": ("y", "v", "r", "t"),
    "label": ("h", "g"),
    "key": ("tag", "note"),
    "dtype": ("float32", "float64", "float16", "bfloat16", "int64"),
    "device": ("cpu", "meta"),
    "cls": ("TwoTensor",),
    "inner": ("a", "b"),
}
"""What a field that is a free text can be, by its name."""


def programs(
    length: int = 6, dtypes: tuple[str, ...] = ("float32", "float64", "float16")
) -> st.SearchStrategy[Program]:
    """Programs of every kind of action, in which much is refused."""
    drawn = {**DRAWN, "dtype": dtypes}
    actions = st.one_of([_record(kind, drawn) for kind in ACTIONS])
    return st.lists(actions, max_size=length).map(tuple)


Drawn: TypeAlias = Mapping[str, tuple[str, ...]]


def _record(kind: Any, drawn: Drawn) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind, include_extras=True)
    fields = attrs.fields_dict(kind)
    return st.builds(kind, **{one: _field(one, hints[one], drawn) for one in fields})


def _field(name: str, hint: Any, drawn: Drawn) -> st.SearchStrategy[Any]:
    if get_origin(hint) is Annotated:
        return st.sampled_from(("m",) if "module" in hint.__metadata__ else TENSORS)
    if get_origin(hint) is Literal:
        return st.sampled_from(get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return st.one_of([_field(name, one, drawn) for one in get_args(hint)])
    if attrs.has(hint):
        return _record(hint, drawn)
    if hint is int:
        return st.integers(1, 3)
    if hint is bool:
        return st.booleans()
    return st.sampled_from(drawn[name])
