"""Functions that a conversion applies: what they make of one tensor."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.actions import (
    CastData,
    Convert,
    FillGrad,
    SetData,
    SwapTensors,
    TakeWeakref,
    View,
)
from swapmodel.conversions import (
    ByRole,
    Cast,
    ConversionFn,
    DetachEach,
    Identity,
    NoTensor,
    Other,
    RaiseAt,
    Scale,
    ScaleInPlace,
    To,
    ToDevice,
    ToEmpty,
    Type,
    Unwrap,
    Wrap,
)
from swapmodel.outcomes import Crash, Refusal, Stop, Unmodelled
from swapmodel.semantics import functions
from swapmodel.semantics.payloads import cast, read
from swapmodel.semantics.promised import promised as promised_of
from swapmodel.state.build import Builder
from swapmodel.state.draft import Draft
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId
from tests.heaps import LATE, at, done, module, refused


@pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])
def test_a_cast_to_the_own_dtype(cls: str) -> None:
    """`t.to(dtype)` is *t* itself where the dtype is that one already."""
    heap = module(cls)
    draft = Draft(heap)

    assert functions.call(draft, Cast("float32"), at(heap, "p")) == at(heap, "p")
    assert draft.sealed() == heap


@given(cls=st.sampled_from(("Parameter", "TwoTensor")), dtype=st.sampled_from("ab"))
def test_a_cast_makes_a_copy(cls: str, dtype: str) -> None:
    """A cast makes a tensor that shares nothing, and leaves the old one alone."""
    wanted = {"a": "float64", "b": "float16"}[dtype]
    heap = module(cls)
    draft = Draft(heap)
    p = at(heap, "p")
    made = functions.call(draft, Cast(wanted), p)
    assert isinstance(made, int)

    assert made not in [t for t, _ in enumerate(heap.tensors)]
    assert read(draft, made) == cast(read(heap, p), wanted)  # type: ignore[arg-type]
    assert draft.frozen().tensors[: len(heap.tensors)] == heap.tensors
    assert not draft.meta_of(made).requires_grad


def test_a_wrapper_is_asked_for_its_own_dtype() -> None:
    """A wrapper that was cast behind its back passes for converted."""
    heap = done(module("TwoTensor"), CastData("p", "float64"))
    draft = Draft(heap)
    again = functions.cast(draft, at(heap, "p"), "float32")
    assert isinstance(again, int)

    assert functions.cast(draft, at(heap, "p"), "float64") == at(heap, "p")
    assert again != at(heap, "p")
    assert draft.impl_of(again).dtype == "float32"


def test_a_cast_of_what_cannot_be_read() -> None:
    """A torn tensor cannot be cast, unless it has the dtype already."""
    heap = done(module("TwoTensor"), TakeWeakref("_WeakTensorRef", "p", "r"))
    heap = refused(heap, SwapTensors("p", "t"), LATE).heap
    draft = Draft(heap)
    p = at(heap, "p")

    assert functions.cast(draft, p, "float64") == Refusal("dispatch/no-handler")
    assert functions.cast(draft, p, "float32") == p


# -- Every kind of function ------------------------------------------------------------

COPIES: tuple[ConversionFn, ...] = (
    Cast("float64"),
    To("bfloat16"),
    Type("int64"),
    ToDevice("meta"),
    ToEmpty("cpu"),
    Wrap("TwoTensor"),
    Scale(),
    RaiseAt(2, Cast("float16")),
    ByRole(Type("int64"), Identity()),
)
ALIASES: tuple[ConversionFn, ...] = (DetachEach(), ByRole(DetachEach(), NoTensor()))
THE_SAME: tuple[ConversionFn, ...] = (
    Identity(),
    ScaleInPlace(),
    Other("p"),
    Type("float32"),
    ToDevice("cpu"),
)


@pytest.mark.parametrize("cls", ["Parameter", "TwoTensor"])
@pytest.mark.parametrize("fn", [*COPIES, *ALIASES, *THE_SAME, Unwrap()], ids=str)
def test_what_is_promised_is_made(fn: ConversionFn, cls: str) -> None:
    """A function makes of a tensor what it promises of the tensor's payload."""
    heap = module(cls)
    draft, p = Draft(heap), at(heap, "p")
    made = functions.call(draft, fn, p)
    assert isinstance(made, int)
    old = read(heap, p)
    assert not isinstance(old, Stop)
    promised = promised_of(fn, old, parameter=True)

    assert promised is None or read(draft, made) == promised
    assert (made == p) == (fn in THE_SAME or (fn == Unwrap() and cls == "Parameter"))
    assert (made < len(heap.tensors)) == (made == p or fn == Unwrap())


def test_only_a_method_filters() -> None:
    """Integers are left alone by `m.double()` and `m.to(...)`, not by `m.type(...)`."""
    build = Builder()
    t = build.tensor(dtype="int64")
    draft = Draft(build.heap())

    assert functions.call(draft, Cast("float64"), t) == t
    assert functions.call(draft, To("float64"), t) == t
    assert functions.call(draft, Type("float64"), t) != t


def test_to_takes_no_integers() -> None:
    """`m.to(torch.int64)` is refused before any tensor is looked at."""
    outcome = refused(module(), Convert("m", To("int64")))

    assert outcome.refusal == Refusal("convert/dtype", "int64")
    assert functions.refused(Type("int64")) is None


def test_complex_is_cast_by_to_alone() -> None:
    """`m.to(dtype)` casts complex tensors, `m.double()` leaves them."""
    build = Builder()
    t = build.tensor(dtype="complex64")
    draft = Draft(build.heap())

    assert functions.call(draft, Cast("float64"), t) == t
    assert functions.call(draft, To("float64"), t) != t


def on_meta() -> tuple[Heap, TensorId]:
    """A tensor on `meta`."""
    build = Builder()
    t = build.tensor(None, device="meta")
    build.name("t", "tensor", t)
    return build.heap(), t


def test_nothing_is_copied_out_of_meta() -> None:
    """A tensor on `meta` can be cast there and replaced elsewhere, not copied."""
    heap, t = on_meta()
    draft = Draft(heap)

    assert functions.call(draft, ToDevice("cpu"), t) == Refusal("device/no-data")
    for fn, device in ((Cast("float64"), "meta"), (ToEmpty("cpu"), "cpu")):
        made = functions.call(draft, fn, t)
        assert isinstance(made, int)
        assert made != t
        assert draft.impl_of(made).device == device


def test_a_move_makes_a_wrapper_coherent() -> None:
    """A move asks for the outer dtype too, so that inner tensors come to have it."""
    heap = done(module("TwoTensor"), CastData("p", "float64"))
    draft, p = Draft(heap), at(heap, "p")
    made = functions.call(draft, ToDevice("meta"), p)
    assert isinstance(made, int)
    inner = [draft.impl_of(one).dtype for _, one in draft.tensor(made).inner]

    assert inner == ["float64", "float64"]


def test_a_null_storage() -> None:
    """What a plain tensor took of a wrapper is gone; `meta` does not look for it."""
    heap = done(module("TwoTensor"), SetData("t", "p"))
    draft, t = Draft(heap), at(heap, "t")
    crash = Crash("a null storage is read")

    assert functions.call(draft, Wrap("TwoTensor"), t) == crash
    assert functions.call(draft, ScaleInPlace(), t) == crash
    assert isinstance(functions.call(draft, ToDevice("meta"), t), int)
    assert isinstance(functions.call(draft, ToEmpty("cpu"), t), int)


def test_a_torn_tensor() -> None:
    """A class without handler refuses every function that asks the tensor."""
    heap = done(module("TwoTensor"), TakeWeakref("_WeakTensorRef", "p", "r"))
    heap = refused(heap, SwapTensors("p", "t"), LATE).heap
    draft, p = Draft(heap), at(heap, "p")

    for fn in (ToDevice("meta"), ToEmpty("cpu"), DetachEach()):
        assert functions.call(draft, fn, p) == Refusal("dispatch/no-handler")


def test_a_class_that_wraps_nothing() -> None:
    """The model knows no constructor of a class without inner tensors."""
    heap = module()
    outcome = functions.call(Draft(heap), Wrap("Parameter"), at(heap, "p"))

    assert outcome == Unmodelled("Parameter wraps nothing")


# -- Calls -----------------------------------------------------------------------------


def test_one_call_raises() -> None:
    """The function raises in place of the call of its number, and of no other."""
    heap = module()
    draft, p = Draft(heap), at(heap, "p")
    raised = Refusal("function/raised", facts=(("number", 2),))

    assert functions.call(draft, RaiseAt(2, Identity()), p, number=1) == p
    assert functions.call(draft, RaiseAt(2, Identity()), p, number=2) == raised
    assert functions.call(draft, RaiseAt(2, Identity()), p, number=3) == p


def test_what_stands_somewhere_else() -> None:
    """An expression is read when the function is called."""
    heap = module(buffer=False)
    draft, t = Draft(heap), at(heap, "t")

    assert functions.call(draft, Other("m.weight"), t) == at(heap, "m.weight")
    assert functions.call(draft, Other("p.grad"), t) is None
    assert functions.call(draft, Other("m.running"), t) is None
    assert functions.call(draft, NoTensor(), t) is None
    absent = Refusal("place/absent", "m.nothing")
    assert functions.call(draft, Other("m.nothing"), t) == absent
    assert isinstance(functions.call(draft, Other("m"), t), Unmodelled)


# -- Grad mode -------------------------------------------------------------------------


def test_a_copy_is_recorded() -> None:
    """In grad mode, a copy of what requires a gradient sends it back."""
    heap = done(module(), FillGrad("p"))
    draft, p = Draft(heap), at(heap, "p")
    made = functions.call(draft, Cast("float64"), p, grad=True)
    whole = functions.call(draft, Type("int64"), p, grad=True)
    assert isinstance(made, int)
    assert isinstance(whole, int)
    grad_fn = draft.meta_of(made).grad_fn
    assert grad_fn is not None

    assert draft.node(grad_fn).name == "ToCopyBackward0"
    assert draft.meta_of(whole).grad_fn is None


def test_a_write_in_a_graph() -> None:
    """In grad mode a leaf cannot be written, and a computed tensor is recorded."""
    heap = done(module(), View("p", "v"))
    draft, p = Draft(heap), at(heap, "p")
    made = functions.call(draft, Cast("float64"), p, grad=True)
    assert isinstance(made, int)
    first = draft.meta_of(made).grad_fn
    leaf = functions.call(draft, ScaleInPlace(), p, grad=True)
    view = functions.call(draft, ScaleInPlace(), at(heap, "v"), grad=True)
    again = functions.call(draft, ScaleInPlace(), made, grad=True)
    then = draft.meta_of(made).grad_fn
    assert then is not None

    assert leaf == Refusal("write/leaf")
    assert isinstance(view, Unmodelled)
    assert again == made
    assert draft.node(then).edges == (first,)
