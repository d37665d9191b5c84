"""The object-swap scope: N tensors with distinct values and a gradient each."""

from typing import Literal, TypeAlias

from swapmodel.actions import (
    Action,
    Cast,
    CastData,
    ClearGrad,
    Convert,
    Drop,
    FillGrad,
    SwapTensors,
    TakeWeakref,
)
from swapmodel.search.scope import Scope
from swapmodel.state.build import Builder

How: TypeAlias = Literal["convert", "cast_data"]
"""How a tensor is cast: with its gradient, or behind its back."""

DTYPES = ("float32", "float64")


def scope(tensors: int, how: How, *, swap: bool = True) -> Scope:
    """Swap and cast tensors, refer to them weakly, set and clear their gradients."""
    builder = Builder(swap=swap)
    actions: list[Action] = []
    for number in range(tensors):
        place = f"m{number}.p"
        p = builder.parameter((number + 1, number + 1))
        builder.gradient(p, builder.tensor((1, 1)))
        builder.name(f"m{number}", "module", builder.module({"p": p}))
        for other in range(number):
            actions.append(SwapTensors(f"m{other}.p", place))
        for dtype in DTYPES:
            cast = Convert(f"m{number}", Cast(dtype))
            actions.append(cast if how == "convert" else CastData(place, dtype))
        ref = f"w{number}"
        actions += [TakeWeakref("ReferenceType", place, ref), Drop(ref)]
        actions += [FillGrad(place), ClearGrad(place)]
    return Scope(
        id=f"object-swap-{tensors}-{how.replace('_', '-')}",
        starts=(("start", builder.heap()),),
        actions=tuple(actions),
        depth=99,
    )
