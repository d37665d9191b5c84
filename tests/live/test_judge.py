"""Predictions of live modules, compared with what torch does."""

import weakref
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from attrs import evolve  # noqa: E402

from swapmodel.actions import Convert  # noqa: E402
from swapmodel.conformance import perform  # noqa: E402
from swapmodel.conformance.perform import set_flag  # noqa: E402
from swapmodel.conversions import Cast, ToDevice, ToEmpty  # noqa: E402
from swapmodel.live.judge import judge  # noqa: E402
from swapmodel.live.lift import lift  # noqa: E402
from swapmodel.specfiles.read import load_spec  # noqa: E402
from swapmodel.state.draft import Draft  # noqa: E402
from swapmodel.state.ids import ImplId  # noqa: E402

pytestmark = pytest.mark.torch

SPEC, OLD = load_spec("2.13.0"), load_spec("2.2.2")
DOUBLE = Convert("m", Cast("float64"))


def watched(m: Any) -> dict[str, Any]:
    """A module, with a name for each parameter and gradient."""
    listed = [*m.parameters(), *(t.grad for t in m.parameters() if t.grad is not None)]
    return {"m": m, **{f"t{number}": t for number, t in enumerate(listed)}}


def linear() -> Any:
    """A small module with one gradient."""
    m = torch.nn.Linear(3, 2)
    m.weight.grad = torch.ones_like(m.weight)
    return m


@pytest.mark.parametrize("flag", [None, "swap", "overwrite"])
@pytest.mark.parametrize(
    "fn", [Cast("float64"), Cast("float32"), ToDevice("meta"), ToEmpty("cpu")], ids=str
)
def test_agrees(flag: Any, fn: Any) -> None:
    """A linear module, converted on every path."""
    if flag is not None:
        set_flag(flag, True)
    found = judge(watched(linear()), Convert("m", fn), SPEC)

    assert (found.verdict, found.differing) == ("agrees", {})
    path = {None: "data", "swap": "swap", "overwrite": "assign"}[flag]
    if fn == ToDevice("meta") and flag is None:
        path = "assign"
    assert found.paths == (f"parameter {path}", f"gradient {path}", f"parameter {path}")


def test_refusal() -> None:
    """A refusal is foreseen with its text, and with what it leaves."""
    set_flag("swap", True)
    m = linear()
    ref = weakref.ref(m.bias)
    found = judge(watched(m), DOUBLE, SPEC)

    assert (found.verdict, found.why) == ("agrees", "swap/no-weakrefs")
    assert (m.weight.dtype, m.bias.dtype) == (torch.float64, torch.float32)
    assert ref() is m.bias


def test_tied() -> None:
    """What is registered twice is converted twice, and an address may come back."""
    set_flag("swap", True)
    m = torch.nn.Module()
    m.weight = m.again = torch.nn.Parameter(torch.ones(3))
    found = judge(watched(m), DOUBLE, SPEC)

    assert (found.verdict, found.differing) == ("agrees", {})
    assert found.paths == ("parameter swap", "parameter swap")


def test_a_stranger_is_called_back() -> None:
    """What a weak reference of somebody else does when a tensor dies is not seen."""
    set_flag("overwrite", True)
    m, called = linear(), list[str]()
    ref = weakref.ref(m.bias, lambda _: called.append("gone"))
    found = judge({"m": m}, DOUBLE, SPEC)

    assert (found.verdict, found.differing) == ("agrees", {})
    assert (ref(), called) == (None, ["gone"])


def test_declined() -> None:
    """Nothing is converted of which the model knows nothing."""
    m = linear()
    m.cached = torch.ones(2)
    found = judge(watched(m), DOUBLE, SPEC)

    assert (found.verdict, found.why) == ("declined", "a tensor in a plain attribute")
    assert m.weight.dtype == torch.float32


def test_wrong_spec() -> None:
    """A release that has no swap predicts another path, and other objects."""
    set_flag("swap", True)
    found = judge(watched(linear()), DOUBLE, OLD)

    assert found.verdict == "disagrees"
    assert found.differing["t0: path"] == ("data", "swap")
    assert found.differing["t0: same impl, same storage"] == (
        (True, False),
        (False, False),
    )


def test_lost_contents_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversion that gives other values is one that differs."""
    convert = perform.perform

    def spoil(roots: Any, fired: Any, action: Any) -> None:
        convert(roots, fired, action)
        roots["m"].weight.data.zero_()

    monkeypatch.setattr(perform, "perform", spoil)

    assert list(judge(watched(linear()), DOUBLE, SPEC).differing) == ["m.weight.values"]


def test_misread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heap that is not as the live world is told before anything is converted."""

    def spoil(roots: Any) -> Any:
        lifted = lift(roots)
        draft = Draft(lifted.heap)
        draft.edit_impl(ImplId(0)).dtype = "float16"
        return evolve(lifted, heap=draft.sealed())

    monkeypatch.setattr("swapmodel.live.judge.lift", spoil)
    found = judge(watched(linear()), DOUBLE, SPEC)

    assert (found.verdict, found.why) == ("disagrees", "as it was read")
    assert found.differing["m.weight.dtype"] == ("float16", "float32")
