"""The model's class of a live tensor."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from swapmodel.conformance.sources import CLASSES  # noqa: E402
from swapmodel.live.holders import parts  # noqa: E402
from swapmodel.live.kinds import kind_of  # noqa: E402
from swapmodel.live.reasons import NotLifted  # noqa: E402
from swapmodel.state.classes import tensor_class  # noqa: E402

pytestmark = pytest.mark.torch


class Named(torch.nn.Parameter):  # type: ignore[name-defined]
    """A user's parameter that only says more of itself."""

    def __repr__(self) -> str:
        return "Named"


class Tagged(torch.Tensor):  # type: ignore[name-defined]
    """A user's tensor; every result is one."""


class Guarded(torch.nn.Parameter):  # type: ignore[name-defined]
    """A parameter with a conversion of its own."""

    def detach(self) -> Any:
        return super().detach()


class Dispatched(torch.Tensor):  # type: ignore[name-defined]
    """A tensor that intercepts operations."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return func(*args, **(kwargs or {}))


class Functional(torch.Tensor):  # type: ignore[name-defined]
    """A tensor that intercepts functions."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return super().__torch_function__(func, types, args, kwargs)


class Slotted(torch.nn.Parameter):  # type: ignore[name-defined]
    """A parameter with a slot."""

    __slots__ = ("mine",)


def test_known() -> None:
    """What torch and the lockstep have, and what behaves as one of them."""
    one = torch.ones(2)
    wrapper = CLASSES["TwoTensor"](torch.ones(2), torch.ones(2))
    uninitialized = torch.nn.UninitializedParameter()
    live = (one, torch.nn.Parameter(one), wrapper, uninitialized, Named(one))

    assert [*map(kind_of, live), kind_of(one.as_subclass(Tagged))] == [
        "Tensor",
        "Parameter",
        "TwoTensor",
        "UninitializedParameter",
        "MyParameter",
        "SubTensor",
    ]


def test_wrappers_of_tests() -> None:
    """The wrappers by which torch is tested are known by their full names."""
    pytest.importorskip("expecttest")
    from torch.testing._internal.common_subclass import subclass_db
    from torch.testing._internal.two_tensor import TwoTensor

    assert kind_of(TwoTensor(torch.ones(2), torch.ones(2))) == "TwoTensor"
    made = {cls.__name__: info.create_fn((3,)) for cls, info in subclass_db.items()}
    for name in ("LoggingTensor", "WrapperTensorWithCustomStrides"):
        assert kind_of(made[name]) == name
        assert tuple(dict(parts(made[name]))) == tensor_class(name).inner
    with pytest.raises(NotLifted, match="SparseTensor has a __torch_dispatch__"):
        kind_of(made["SparseTensor"])


@pytest.mark.parametrize(
    ("cls", "why"),
    [
        (Guarded, "overrides detach"),
        (Dispatched, "has a __torch_dispatch__ of its own"),
        (Functional, "has a __torch_function__ of its own"),
        (Slotted, "has slots"),
    ],
)
def test_declined(cls: Any, why: str) -> None:
    """A class with code that a conversion would run, or with places for more."""
    with pytest.raises(NotLifted) as caught:
        kind_of(torch.Tensor._make_subclass(cls, torch.ones(2)))

    assert caught.value.why == f"the class {cls.__module__}.{cls.__name__} {why}"


def test_fake() -> None:
    """What a FakeTensor does depends on more than itself."""
    with FakeTensorMode(), pytest.raises(NotLifted, match="FakeTensor"):
        kind_of(torch.ones(2))


def test_uninitialized_buffer() -> None:
    """Only parameters are known as uninitialized."""
    with pytest.raises(NotLifted, match="UninitializedBuffer"):
        kind_of(torch.nn.UninitializedBuffer())
