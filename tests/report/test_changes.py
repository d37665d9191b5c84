"""What is different between two heaps, in words."""

from swapmodel.actions import (
    Action,
    Cast,
    CastData,
    ClearGrad,
    Convert,
    Drop,
    TakeWeakref,
    Tie,
    Unregister,
)
from swapmodel.report.changes import Change, changes
from swapmodel.run import run
from swapmodel.specfiles.read import load_spec
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap
from tests.report import examples

SPEC = load_spec("torch-2.13")


def after(*program: Action) -> tuple[Heap, Heap]:
    """The heaps before and after the last action."""
    heaps = run(examples.wrapper_heap(), program, SPEC).heaps
    return heaps[-2], heaps[-1]


def test_nothing_differs_from_itself() -> None:
    """Equal heaps have no differences."""
    heap = examples.wrapper_heap()

    assert changes(heap, heap) == ()


def test_a_changed_answer_is_told_in_torch_s_spelling() -> None:
    """A field that changed is the torch expression whose value is another one."""
    found = changes(*after(CastData("p", "float64")))

    assert Change("p.dtype", "torch.float32", "torch.float64") in found


def test_what_is_gone_is_summed_up() -> None:
    """A place that leads nowhere any more is told with what stood there."""
    found = changes(*after(ClearGrad("m.weight")))

    assert Change("m.weight.grad is None", "False", "True") in found
    assert Change("m.weight.grad.a", "Tensor torch.float32 [1, 1]", "") in found


def test_weak_references_are_followed() -> None:
    """A weak reference is new, then dead when nothing else keeps its object."""
    take = TakeWeakref("ReferenceType", "p", "r")

    assert changes(*after(take)) == (Change("r", "", "ReferenceType of p"),)
    assert changes(*after(take, Drop("p"))) == (
        Change("p", "Parameter torch.float32 [3, 4]", ""),
        Change("r", "ReferenceType of p", "ReferenceType, dead"),
    )


def test_flags_are_told() -> None:
    """A switch of `torch.__future__` is a difference too."""
    found = changes(Builder().heap(), Builder(swap=True).heap())

    assert found == (Change("flag swap", "False", "True"),)


def test_a_dtype_is_spelled_with_its_prefix() -> None:
    """The new dtype of a conversion is told once per tensor that has it."""
    found = changes(*after(Convert("m", Cast("float64"))))
    about = [one.about for one in found if one.now == "torch.float64"]

    assert about == [
        "m.weight.dtype",
        "m.weight.a.dtype",
        "m.weight.b.dtype",
        "m.weight.grad.dtype",
        "m.weight.grad.a.dtype",
        "m.weight.grad.b.dtype",
    ]


def test_what_an_rnn_lists() -> None:
    """The flat weights and their weak references are told beside the registrations."""
    build = Builder()
    w, h = build.parameter(), build.parameter()
    weights = {"weight_ih_l0": w, "weight_hh_l0": h}
    build.name("m", "module", build.module(weights, cls="RNN"))
    build.name("t", "tensor", build.tensor())
    program = (Tie("m", "weight_ih_l0", "t"), Unregister("m", "weight_hh_l0"))
    first, tied, gone = run(build.heap(), program, SPEC).heaps
    rebuilt = run(gone, (Convert("m", Cast("float64")),), SPEC).heaps[-1]

    assert changes(first, tied) == (
        Change("m._flat_weights[0]", "m.weight_ih_l0", "t"),
    )
    assert Change("m._flat_weights[1]", "m.weight_hh_l0", f"object {h}") in changes(
        tied, gone
    )
    assert Change("m._flat_weights[1]", f"object {h}", "None") in changes(gone, rebuilt)
    lost = Change("m._flat_weight_refs[1]", f"ReferenceType of object {h}", "None")
    assert lost in changes(gone, rebuilt)
