"""Keepers in real Python: what each of them leaves, yields and finds."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.actions import SwapTensors, TakeWeakref  # noqa: E402
from swapmodel.conformance import keepers  # noqa: E402
from swapmodel.conformance.lockstep import compare  # noqa: E402
from swapmodel.state.keepers import KEEPERS, PYTHON_TYPES, Keeper  # noqa: E402
from tests.heaps import NEW, module, spec  # noqa: E402

pytestmark = [pytest.mark.torch]


@pytest.mark.parametrize("keeper", KEEPERS)
def test_every_keeper_refuses_a_swap(keeper: Keeper) -> None:
    """On either side, and the model agrees on the text and on what is handed out."""
    for t in ("p", "t"):
        program = (TakeWeakref(keeper, t, "r"), SwapTensors("p", "t"))

        assert compare(module(), program, spec(NEW)).divergence is None


@pytest.mark.parametrize("keeper", KEEPERS)
def test_what_is_left_and_yielded(keeper: Keeper) -> None:
    """A reference of the type that the table says, to the tensor, until it dies."""
    if KEEPERS[keeper].type not in PYTHON_TYPES:
        return
    t, fired = torch.ones(2), list[str]()
    kept = keepers.take(keeper, t, "r", fired)

    assert keepers.python_types(t) == [KEEPERS[keeper].type]
    assert keepers.yields(kept) is t
    del t
    if keeper != "id-table":
        assert keepers.yields(kept) is None
    assert fired == (["r"] if KEEPERS[keeper].calls_back else [])


def test_pythons_own_containers_compare() -> None:
    """A look-up by a tensor of one element finds it, by one of two raises."""
    for length, found in ((1, True), (2, "ambiguous")):
        t = torch.ones(length)
        kept = keepers.take("WeakSet", t, "r", [])

        assert keepers.finds(kept, t) == found


def test_a_keyed_reference_calls_back_without_a_word() -> None:
    """It needs a callback, which does nothing."""
    t = torch.ones(2)
    kept = keepers.take("KeyedRef", t, "r", [])
    del t

    assert keepers.yields(kept) is None
