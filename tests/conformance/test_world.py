"""A heap becomes real torch and reads as it did before."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.actions import (  # noqa: E402
    Backward,
    Cast,
    Convert,
    Drop,
    Forward,
    RegisterHook,
    SetAttribute,
    SwapTensors,
    TakeWeakref,
)
from swapmodel.conformance.observation import observe  # noqa: E402
from swapmodel.conformance.starts import (  # noqa: E402
    exhaustive_scopes,
)
from swapmodel.conformance.world import World  # noqa: E402
from swapmodel.state.build import Builder  # noqa: E402
from tests.heaps import at, done, module, with_row  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:The .grad attribute"),
]

SCOPES = exhaustive_scopes(1)
STARTS = [start for scope in SCOPES for start in scope.starts]


@pytest.mark.parametrize(("name", "heap"), STARTS)
def test_a_start_heap_reads_as_it_was_written(name, heap) -> None:  # type: ignore[no-untyped-def]
    """Every record of a start heap becomes what Python sees of it."""
    assert World(heap).look(()).then == observe(heap)


def test_storage_can_be_shared_from_the_start() -> None:
    """Tensors over one storage alias each other, with counters of their own."""
    heap = module(grad=False)
    shared = heap.impl_of(at(heap, "p"))
    impl = heap.tensor(at(heap, "t")).impl
    tied = with_row(heap, "impls", impl, storage=shared.storage)
    world = World(tied)

    assert world.variables["t"].data_ptr() == world.variables["p"].data_ptr()


def test_looking_changes_nothing() -> None:
    """Two looks in a row see the same, owners included."""
    world = World(module("TwoTensor"))
    world.run(Forward("square", "m.weight", "y"))
    world.run(Backward("y"))

    assert world.look(()) == world.look(())


def test_values_stay_small_behind_the_back_of_torch() -> None:
    """A product above the modulus is brought back without a write being counted."""
    world = World(module())
    world.run(Forward("square", "p", "y"))

    assert world.variables["y"].tolist() == [1.0, 0.0]
    assert world.variables["y"]._version == 0


def test_exceptions_are_read_and_let_go() -> None:
    """The chain is told from the outermost on, and no frame keeps a tensor."""
    world = World(module(swap=True))
    world.run(TakeWeakref("ReferenceType", "m.weight", "r"))
    errors = world.run(Convert("m", Cast("float64")))
    result = world.look(errors)

    assert [text for _, text in errors] == [
        "_apply(): Couldn't swap Module.weight",
        "Cannot swap t1 because it has weakref associated with it",
    ]
    assert result.kind == "refused"
    assert dict(result.then.places)["m.weight"][-1] == ("ReferenceType",)


def test_hooks_tell_their_labels() -> None:
    """What fired is told in order, action by action."""
    world = World(module())
    for action in (RegisterHook("p", "h"), RegisterHook("p", "k")):
        world.run(action)
    world.run(Forward("scale", "p", "y"))
    world.run(Backward("y"))
    fired = world.look(()).fired
    world.run(Drop("y"))

    assert fired == ("h", "k")
    assert world.look(()).fired == ()


def test_an_absent_place_is_an_error() -> None:
    """A place that leads nowhere raises as Python does."""
    errors = World(module()).run(SwapTensors("p", "nothing"))

    assert errors == (("AttributeError", "nothing"),)


def test_attributes_are_set() -> None:
    """A user's attribute stands in the tensor's dict."""
    world = World(module())
    world.run(SetAttribute("p", "tag", 3))

    assert world.variables["p"].tag == 3


@pytest.mark.parametrize(
    ("action", "what"),
    [
        (Forward("scale", "p", "y"), "no nodes"),
        (RegisterHook("p", "h"), "no hooks"),
        (TakeWeakref("ReferenceType", "p", "r"), "no weakrefs"),
    ],
)
def test_a_start_has_no_past(action, what: str) -> None:  # type: ignore[no-untyped-def]
    """What only a program can make is not made from records."""
    with pytest.raises(ValueError, match=what):
        World(done(module(), action))


def test_a_module_has_its_name() -> None:
    """The class of a module is named in refusals."""
    b = Builder()
    b.name("m", "module", b.module({"weight": b.parameter()}, cls="Linear"))

    assert World(b.heap()).variables["m"]._get_name() == "Linear"
