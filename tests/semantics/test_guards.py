"""Guards: which types of weak references each of them admits to a swap."""

import pytest
from attrs import evolve

from swapmodel.actions import SwapTensors, TakeWeakref
from swapmodel.outcomes import Done, Refused
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.keepers import KEEPERS, PYTHON_TYPES, Keeper
from tests.heaps import NEW, done, module, spec

BARE = {one for one in KEEPERS if KEEPERS[one].type in PYTHON_TYPES}

ADMITTED: dict[str, set[Keeper]] = {
    "no-weakrefs": set(),
    "no-weakref-subclasses": {
        one
        for one in BARE
        if KEEPERS[one].type not in ("WeakIdRef", "KeyedRef", "InternalRef")
    },
    "no-weakrefs-but-weakidref": {
        "WeakIdRef",
        "WeakIdKeyDictionary",
        "WeakTensorKeyDictionary",
    },
    "no-weakrefs-but-keyedref": {"KeyedRef", "WeakValueDictionary"},
    "no-weakrefs-but-internal": {"InternalRef", "TensorWeakRef"},
}


def guarded(guard: str) -> Spec:
    """The newest release with another guard."""
    base = spec(NEW)
    phases = dict(base.operations)["swap_tensors"]
    changed = tuple(guard if one == "no-weakrefs" else one for one in phases)
    table = {**dict(base.operations), "swap_tensors": changed}
    return evolve(base, id="guarded", operations=tuple(table.items()))


@pytest.mark.parametrize("guard", ADMITTED)
def test_a_guard_admits_by_type(guard: str) -> None:
    """What it does not admit it refuses, on either side."""
    under = guarded(guard)
    for keeper in BARE:
        for operand, t in (("t1", "p"), ("t2", "t")):
            heap = done(module(), TakeWeakref(keeper, t, "r"))
            outcome = step(heap, SwapTensors("p", "t"), under)
            if keeper in ADMITTED[guard]:
                assert isinstance(outcome, Done), keeper
            else:
                assert isinstance(outcome, Refused), keeper
                assert outcome.rule == "swap/no-weakrefs"
                assert outcome.refusal.operand == operand
