"""Modules, optimizers and weak references, read into a heap."""

import weakref
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.nn.utils.parametrizations import orthogonal  # noqa: E402
from torch.utils.weak import WeakIdRef  # noqa: E402

from swapmodel.live.holders import Numbers  # noqa: E402
from swapmodel.live.lift import lift  # noqa: E402
from swapmodel.live.reasons import NotLifted  # noqa: E402

pytestmark = pytest.mark.torch


class Own(torch.nn.Module):  # type: ignore[name-defined]
    """A module that converts itself."""

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        return super()._apply(fn, recurse)


class Guarded(torch.nn.Module):  # type: ignore[name-defined]
    """A module that has something to say to a cast."""

    def half(self) -> Any:
        return self


def linear() -> Any:
    """A small module."""
    return torch.nn.Linear(3, 2)


def test_numbers() -> None:
    """One object has one number, whatever it is equal to."""
    numbers, one = Numbers(), [1]

    assert [numbers.of(x) for x in (True, False, one, [1], one)] == [1, 0, 2, 3, 2]


def test_modules() -> None:
    """A shared child, a tie and what is registered as nothing."""
    one = linear()
    m = torch.nn.Sequential(one, linear(), one)
    m[1].weight = one.weight
    m[1].bias = None
    m.register_module("none", None)
    heap = lift({"m": m}).heap
    first, second, _ = heap.modules

    assert first.children == (("0", 1), ("1", 2), ("2", 1))
    assert second.parameters == (("weight", 0), ("bias", 1))
    assert heap.modules[2].parameters == (("weight", 0), ("bias", None))
    assert [one.cls for one in heap.modules] == ["Sequential", "Linear", "Linear"]


def test_rnn() -> None:
    """The weights that it lists, under the names that it has for them."""
    m = torch.nn.GRU(2, 3, num_layers=2, bias=False)
    (module,) = lift({"m": m}).heap.modules

    assert module.flat_weights_names == tuple(m._flat_weights_names)
    assert module.flat_weights == (0, 1, 2, 3)
    assert module.flat_weight_refs == (0, 1, 2, 3)


def test_weakrefs() -> None:
    """What nothing here holds has a variable of its own."""
    m = linear()
    kept = weakref.ref(m.weight), weakref.ref(m.weight, print), WeakIdRef(m.bias)
    heap = lift({"m": m}).heap

    assert len(kept) == len(heap.weakrefs)
    assert [(one.keeper, one.tensor) for one in heap.weakrefs] == [
        ("ReferenceType", 0),
        ("callback", 0),
        ("WeakIdRef", 1),
    ]
    assert [name for name, _, _ in heap.names] == [
        "m",
        "weakref0",
        "weakref1",
        "weakref2",
    ]


@pytest.mark.parametrize(
    ("cls", "options", "kind"),
    [
        (torch.optim.SGD, {"lr": 0.1}, "SGD"),
        (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}, "SGD-momentum"),
        (torch.optim.Adam, {}, "Adam"),
    ],
)
def test_optimizers(cls: Any, options: dict[str, float], kind: str) -> None:
    """Parameters in their order, and the state of those that have one."""
    m = linear()
    m.weight.grad = torch.ones_like(m.weight)
    optimizer = cls(m.parameters(), **options)
    optimizer.step()
    (found,) = lift({"m": m, "opt": optimizer}).heap.optimizers

    assert (found.kind, found.groups) == (kind, ((0, 2),))
    assert [one.parameter for one in found.state] == [0] * bool(found.state)
    kept = [name for one in found.state for name, _ in one.tensors]
    assert kept == [k for kept in optimizer.state.values() for k in kept]


def two_groups(m: Any) -> Any:
    """An optimizer with a group of another kind for each parameter."""
    return torch.optim.SGD(
        [{"params": [m.weight]}, {"params": [m.bias], "momentum": 1.0}], lr=1.0
    )


@pytest.mark.parametrize(
    ("roots", "why"),
    [
        (lambda: {"m": Own()}, "Own has an _apply of its own @ m"),
        (lambda: {"m": Guarded()}, "Guarded has a half of its own @ m"),
        (lambda: {"m": orthogonal(linear())}, "a parametrized module @ m"),
        (lambda: {"m": torch.jit.script(linear())}, "a script module @ m"),
        (
            lambda: {"opt": torch.optim.RMSprop(linear().parameters())},
            "the optimizer RMSprop @ opt",
        ),
        (
            lambda: {"opt": two_groups(linear())},
            "an optimizer with groups of different kinds @ opt",
        ),
    ],
)
def test_declined(roots: Any, why: str) -> None:
    """What the model has no record for."""
    with pytest.raises(NotLifted) as caught:
        lift(roots())

    assert str(caught.value) == why


def test_plain_attribute() -> None:
    """A tensor that a module holds and does not register."""
    m = linear()
    m.cached = torch.ones(2)

    with pytest.raises(NotLifted, match=r"plain attribute @ m\.cached"):
        lift({"m": m})


def test_strange_weakref() -> None:
    """A type of weak reference that no guard is known to have an opinion about."""
    m = linear()
    proxy = weakref.proxy(m.weight)

    with pytest.raises(NotLifted, match=r"the type ProxyType @ m\.weight"):
        lift({"m": m})
    assert proxy.shape == (2, 3)
