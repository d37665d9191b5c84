"""A live module, read into a heap."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from swapmodel.actions import Backward, Forward, NameTensor  # noqa: E402
from swapmodel.conformance.sources import CLASSES  # noqa: E402
from swapmodel.invariants.catalogue import invariant  # noqa: E402
from swapmodel.invariants.violation import Step  # noqa: E402
from swapmodel.live.lift import lift  # noqa: E402
from swapmodel.live.reasons import NotLifted  # noqa: E402
from swapmodel.live.retold import contents, seen, seen_live  # noqa: E402
from swapmodel.live.windows import Piece  # noqa: E402
from swapmodel.outcomes import Done  # noqa: E402
from swapmodel.run import run  # noqa: E402
from swapmodel.specfiles.read import load_spec  # noqa: E402
from swapmodel.state.events import Fired  # noqa: E402
from swapmodel.state.holders import Flags  # noqa: E402

pytestmark = pytest.mark.torch


def rich() -> Any:
    """A module with one of everything that is read."""
    m = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LSTM(2, 2))
    m.weight = m[0].weight
    m.weight.grad = torch.ones_like(m.weight)
    m.weight.tag = "mine"
    m[0].bias.requires_grad_(False)
    m[0].bias.add_(1)
    whole = torch.arange(10)
    m.register_buffer("counts", whole)
    m.register_buffer("some", whole[3:7])
    m.register_buffer("alias", whole.detach())
    m.register_buffer("none", None)
    m.register_buffer("there", torch.ones(3, device="meta"), persistent=False)
    m.marked = torch.nn.Buffer(torch.ones(2, dtype=torch.complex64))
    m.lazy = torch.nn.LazyLinear(2)
    wrapper = CLASSES["TwoTensor"](torch.ones(2), torch.ones(2))
    m.wrapper = torch.nn.Parameter(wrapper)
    m.wrapper.register_hook(print)
    m.wrapper.register_post_accumulate_grad_hook(print)
    return m


def test_says_what_python_sees() -> None:
    """Everything that can be observed of a heap is so in the live world."""
    roots = {"m": rich()}
    lifted = lift(roots)

    assert seen(lifted.heap, contents(roots, lifted)) == seen_live(roots, lifted)


def test_changes_nothing() -> None:
    """Reading twice gives the same, versions and use counts included."""
    roots = {"m": rich()}
    first = lift(roots)
    counts = [t._use_count() for t in roots["m"].parameters()]

    assert lift(roots).heap == first.heap
    assert [t._use_count() for t in roots["m"].parameters()] == counts


def test_well_formed() -> None:
    """No law of the heap's structure is broken."""
    heap = lift({"m": rich()}).heap
    faults = invariant("well-formed").check(
        Step(heap, NameTensor("m.weight", "w"), Done(heap), load_spec("torch-2.13"))
    )

    assert list(faults) == []


def test_storages_and_counters() -> None:
    """A view shares memory and counter, `.data` memory alone, a copy neither."""
    t = torch.arange(6)
    heap = lift({"a": t, "b": t[2:], "c": t.data, "d": t.clone()}).heap
    a, b, c, d = heap.impls

    assert a.storage == b.storage == c.storage != d.storage
    assert a.counter == b.counter != c.counter != d.counter
    assert (b.offset, b.length) == (2, 2)
    assert heap.metas[1].base == 0


def test_gradient() -> None:
    """It hangs on the parameter, and is one owner of what it holds."""
    w = torch.nn.Parameter(torch.ones(3))
    w.grad = torch.ones(3)
    heap = lift({"w": w}).heap

    assert heap.metas[0].grad == 1
    assert heap.metas[0].requires_grad
    assert heap.storages[1].values == (2, 3)


def test_pieces() -> None:
    """Values are numbers of pieces, so that equal ones are the same elements."""
    lifted = lift({"a": torch.ones(5), "b": torch.ones(())})

    assert lifted.pieces == (Piece(0, 0, 1), Piece(0, 1, 4), Piece(1, 0, 1))
    assert [one.values for one in lifted.heap.storages] == [(0, 1), (2,)]


def test_on_meta_there_are_no_values() -> None:
    """And the storage is one all the same."""
    t = torch.ones(3, device="meta")
    heap = lift({"a": t, "b": t.detach()}).heap

    assert [one and one.values for one in heap.storages] == [None]
    assert heap.impls[0].storage == heap.impls[1].storage


def test_hooks() -> None:
    """What is listed fires, under the key that torch has for it."""
    w = torch.nn.Parameter(torch.ones(2))
    kept = w.register_hook(print), w.register_post_accumulate_grad_hook(print)
    program = (Forward("scale", "w", "y"), Backward("y"))
    last = run(lift({"w": w}).heap, program, load_spec("torch-2.13")).outcomes[-1]

    assert isinstance(last, Done)
    assert [one.hook for one in last.events if isinstance(one, Fired)] == [
        str(one.id) for one in kept
    ]


def test_flags() -> None:
    """The switches as they are set by then."""
    torch.__future__.set_swap_module_params_on_conversion(True)

    assert lift({}).heap.flags == Flags(swap=True)


def quantized() -> Any:
    """A tensor of integers that stand for others."""
    return torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)


def inference() -> Any:
    """A tensor that no graph will ever record."""
    with torch.inference_mode():
        return torch.ones(2)


def holding() -> Any:
    """A tensor with another one in its `__dict__`."""
    t = torch.ones(2)
    t.cached = torch.ones(2)
    return t


def stale() -> Any:
    """A view of what was written since."""
    t = torch.ones(4)
    t.add_(1)
    return t[1:]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (quantized, "the dtype qint8"),
        (lambda: torch.ones(2).to(torch.float8_e4m3fn), "the dtype float8_e4m3fn"),
        (lambda: torch.ones(2).to_sparse(), "a tensor that is not strided"),
        (inference, "an inference tensor or a lazy conjugate"),
        (holding, "a tensor in the attributes of another"),
        (stale, "a view with a history"),
        (
            lambda: torch.ones(2, requires_grad=True) * 2,
            "a tensor that a graph computed",
        ),
    ],
)
def test_declined(made: Any, why: str) -> None:
    """What the model cannot know, and where it stands."""
    m = torch.nn.Module()
    m.register_buffer("t", made())

    with pytest.raises(NotLifted) as caught:
        lift({"m": m})
    assert str(caught.value) == f"{why} @ m.t"


def test_live_graph() -> None:
    """A graph that owns a parameter shows in its use count, and nowhere else."""
    m = torch.nn.Linear(3, 2)
    y = m(torch.ones(1, 3))

    with pytest.raises(NotLifted, match=r"unseen owns @ m\."):
        lift({"m": m})
    assert y.shape == (1, 2)


def test_two_classes_of_one_kind() -> None:
    """A heap has one class of a kind, so that it can be told again."""
    kinds = [type(name, (torch.nn.Parameter,), {}) for name in ("One", "Other")]
    one, other = (kind(torch.ones(2)) for kind in kinds)

    assert lift({"a": one}).heap.tensors[0].cls == "MyParameter"
    with pytest.raises(NotLifted, match=r"takes for one @ b"):
        lift({"a": one, "b": other})
