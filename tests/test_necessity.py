"""Which phases matter: what is changed, what shows it, and what the list says."""

import pytest
from attrs import evolve

from swapmodel.actions import Cast, Convert, SwapTensors, TakeWeakref
from swapmodel.necessity import (
    Change,
    base,
    changes,
    noticed,
    telling,
    unobservable,
    unwitnessed,
    verdicts,
)
from swapmodel.search.explore import explore
from swapmodel.search.scope import Scope
from swapmodel.semantics.spec import PHASES, Spec
from swapmodel.specfiles.read import load_spec
from tests.commands.test_lookup import run
from tests.search.starts import SMALL

SPEC = load_spec("torch-2.13")

SCOPE = Scope(
    id="s",
    starts=SMALL[:1],
    actions=(
        SwapTensors("m.weight", "t"),
        TakeWeakref("ReferenceType", "t", "r"),
        TakeWeakref("_WeakTensorRef", "t", "c"),
        Convert("m", Cast("float64")),
    ),
    depth=2,
)

ALL = {one.told: one for one in changes(SPEC)}


def test_every_removal_and_every_exchange_of_neighbours() -> None:
    """As many removals as there are phases, and one exchange less an operation."""
    lists = [names for _, names in (*SPEC.operations, *SPEC.refused)]

    assert len(ALL) == sum(2 * len(names) - 1 for names in lists)
    assert "swap_tensors without few-owners" in ALL
    assert "swap_tensors with move-class before few-owners" in ALL
    assert "convert_parameter/swap without could-not-swap" in ALL


def test_what_is_changed() -> None:
    """One operation has a phase less; everything else is as it was."""
    one = ALL["swap_tensors without few-owners"].spec

    names = dict(SPEC.operations)["swap_tensors"]
    left = tuple(name for name in names if name != "few-owners")
    assert dict(one.operations) == {**dict(SPEC.operations), "swap_tensors": left}
    assert one.refused == SPEC.refused


def test_what_is_changed_of_an_except_clause() -> None:
    """The same name under `[operations]` keeps its phases."""
    told = "convert_parameter/swap with could-not-swap before reattach-gradient"
    one = ALL[told].spec

    assert one.operations == SPEC.operations
    assert dict(one.refused)["convert_parameter/swap"] == (
        "could-not-swap",
        "reattach-gradient",
    )


def test_a_phase_that_reads_what_is_not_there() -> None:
    """Such a spec cannot be read, which is how it shows."""
    one = ALL["convert_parameter without call-fn"]

    assert "reads 'result'" in one.unreadable
    assert noticed(one, []).startswith("cannot be read: phase 'compatible-type'")


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("swap_tensors without no-weakrefs", "gone: [swap/no-weakrefs] in s"),
        ("swap_tensors with no-impl-weakrefs before move-slots", ""),
        ("swap_tensors with move-impl before no-impl-weakrefs", "new: atomic-tensor"),
        ("copy_rnn without require-weakrefs", ""),
        ("convert_parameter/data without set-data", "cannot be read: operation"),
        ("set_data without copy-impl", "new: values data "),
    ],
)
def test_what_shows_a_change(told: str, found: str) -> None:
    """A verdict that is new comes first, then one that is gone, then nothing."""
    shown = noticed(ALL[told], [base(SCOPE, SPEC)])

    assert shown.startswith(found)
    assert bool(shown) == bool(found)


def test_a_scope_that_cannot_tell_is_not_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What no action of a scope asks for is not looked for in it."""
    known = base(SCOPE, SPEC)
    monkeypatch.setattr("swapmodel.necessity.Search", None)

    assert noticed(ALL["convert_rnn without module"], [known]) == ""


def test_a_witness_that_shows_its_claim_no_more() -> None:
    """The first claim whose witness does not show its cause tells a change."""
    found = unwitnessed(ALL["convert_buffer without replace"])

    assert found.startswith("gone: ")
    assert " since convert_buffer/replace in found/" in found
    assert unwitnessed(ALL["copy_rnn without require-weakrefs"]) == ""
    assert unwitnessed(ALL["convert_parameter without call-fn"]).startswith("cannot be")
    tripped = unwitnessed(ALL["call_fn without call"])
    assert tripped.startswith("cannot be run in found/")


def test_a_witness_is_a_program_that_is_run_to_its_end() -> None:
    """One that ends before its last action shows nothing."""
    without = evolve(SPEC, operations=dict_without(SPEC, "swap_tensors"))
    one = Change(operation="swap_tensors", phases=("all",), spec=without)

    assert unwitnessed(one).startswith(("gone: ", "cannot be run"))


def dict_without(spec: Spec, name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The operations of a spec but one."""
    return tuple((one, phases) for one, phases in spec.operations if one != name)


def test_which_changes_a_scope_can_tell() -> None:
    """Those after which some step of it comes out otherwise."""
    told = {
        "swap_tensors without no-weakrefs": True,
        "swap_tensors with move-slots before move-attributes": False,
        "copy_rnn without require-weakrefs": False,
        "call_fn without call": True,
    }

    assert telling(SCOPE, SPEC, [ALL[one] for one in told]) == tuple(told.values())


def test_a_change_that_cannot_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A phase that trips over what another left is a change that shows."""

    def trip(draft: object, frame: object) -> None:
        raise AssertionError

    phase = evolve(PHASES["swap_tensors", "move-slots"], run=trip)
    known = base(SCOPE, SPEC)
    monkeypatch.setitem(PHASES, ("swap_tensors", "move-slots"), phase)
    one = ALL["swap_tensors with move-slots before move-attributes"]

    found = noticed(evolve(one, spec=evolve(one.spec)), [known])

    assert found == "cannot be run in s: AssertionError"


def test_verdicts_tell_how_short() -> None:
    """A cause that shows one step later is another verdict."""
    found = verdicts(explore(SCOPE, SPEC))

    assert "[swap/no-weakrefs]" in found
    assert any("since swap_tensors/" in one and "2 steps" in one for one in found)


def test_the_list_names_changes() -> None:
    """Each entry of `specs/unobservable.toml` is a change, with a reason."""
    listed = unobservable()

    assert set(listed) <= set(ALL)
    assert all(reason.endswith(".") for reason in listed.values())


def test_an_operation_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    """One line, and exit code 4."""
    code, out, err = run(capsys, "necessity", "--operation", "swap_tensor")

    assert (code, out) == (4, "")
    assert "has no phases of swap_tensor" in err
