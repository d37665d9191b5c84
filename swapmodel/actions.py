"""
What can a program do?  One frozen record per user-visible torch operation.

A program is a tuple of actions.  Operands are places: a variable or a path from
one, resolved when the action runs.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_type_hints

from attrs import frozen

from swapmodel.conversions import Cast as Cast
from swapmodel.conversions import ConversionFn
from swapmodel.graph_actions import (
    Backward as Backward,
)
from swapmodel.graph_actions import (
    ClearGrad as ClearGrad,
)
from swapmodel.graph_actions import (
    Detach as Detach,
)
from swapmodel.graph_actions import (
    FillGrad as FillGrad,
)
from swapmodel.graph_actions import (
    Forward as Forward,
)
from swapmodel.graph_actions import (
    HookKind as HookKind,
)
from swapmodel.graph_actions import (
    Product as Product,
)
from swapmodel.graph_actions import (
    RegisterHook as RegisterHook,
)
from swapmodel.graph_actions import (
    RequiresGrad as RequiresGrad,
)
from swapmodel.graph_actions import (
    RetainGrad as RetainGrad,
)
from swapmodel.graph_actions import (
    SetGrad as SetGrad,
)
from swapmodel.graph_actions import (
    View as View,
)
from swapmodel.graph_actions import (
    Write as Write,
)
from swapmodel.named import Checked, ModulePlace, Name, Place
from swapmodel.optimizer_actions import AddParamGroup as AddParamGroup
from swapmodel.optimizer_actions import MakeOptimizer as MakeOptimizer
from swapmodel.optimizer_actions import OptimizerStep as OptimizerStep
from swapmodel.optimizer_actions import ZeroGrad as ZeroGrad
from swapmodel.state.keepers import Keeper

# -- Actions -------------------------------------------------------------------


@frozen
class Convert(Checked):
    """Apply *fn* to everything in a module: `Module._apply`."""

    module: ModulePlace
    fn: ConversionFn


@frozen
class SwapTensors(Checked):
    """Exchange what two tensors stand for: `torch.utils.swap_tensors(t1, t2)`."""

    t1: Place
    t2: Place


@frozen
class SetData(Checked):
    """Give a tensor another one's data: `t.data = u`."""

    t: Place
    u: Place


@frozen
class CastData(Checked):
    """Cast a tensor behind its back: `t.data = t.data.to(dtype)`."""

    t: Place
    dtype: str


@frozen
class Drop(Checked):
    """Delete a variable: `del name`, be it a tensor, an output or a weakref."""

    name: Name


@frozen
class TakeWeakref(Checked):
    """
    Keep a weak reference of a tensor, bare or in a keeper, as `state.weakrefs` names.

    `r = weakref.ref(t)`, `r = WeakIdKeyDictionary({t: ...})`, ...
    """

    type: Keeper
    t: Place
    name: Name


@frozen
class SetAttribute(Checked):
    """Set an entry of a tensor's `__dict__`: `t.key = value`."""

    t: Place
    key: Name
    value: int = 1


@frozen
class Register(Checked):
    """
    Put a tensor among a module's parameters or buffers.

    `m.register_parameter(key, t)`, `m.register_buffer(key, t)` or, by hand,
    `m._parameters[key] = t`.
    """

    module: ModulePlace
    key: Name
    t: Place
    kind: Literal["parameter", "buffer", "by hand"] = "parameter"


@frozen
class Tie(Checked):
    """Set an attribute of a module to a tensor: `m.key = t`."""

    module: ModulePlace
    key: Name
    t: Place


@frozen
class Unregister(Checked):
    """Delete an attribute of a module: `del m.key`."""

    module: ModulePlace
    key: Name


@frozen
class Deepcopy(Checked):
    """Keep a deep copy of a tensor: `name = copy.deepcopy(t)`."""

    t: Place
    name: Name


@frozen
class DeepcopyModule(Checked):
    """Keep a deep copy of a module: `name = copy.deepcopy(m)`."""

    module: ModulePlace
    name: Name


@frozen
class NameTensor(Checked):
    """Give a tensor a variable: `name = t`."""

    t: Place
    name: Name


@frozen
class SetFlag(Checked):
    """Set a switch of `torch.__future__` that chooses a conversion's path."""

    flag: Literal["swap", "overwrite"]
    value: bool = True


Action: TypeAlias = (
    Convert
    | SwapTensors
    | SetData
    | CastData
    | FillGrad
    | ClearGrad
    | SetGrad
    | RequiresGrad
    | RetainGrad
    | Write
    | Forward
    | Product
    | Backward
    | View
    | Detach
    | Drop
    | TakeWeakref
    | RegisterHook
    | SetAttribute
    | Register
    | Tie
    | Unregister
    | Deepcopy
    | DeepcopyModule
    | NameTensor
    | SetFlag
    | MakeOptimizer
    | AddParamGroup
    | OptimizerStep
    | ZeroGrad
)

Program: TypeAlias = tuple[Action, ...]

ACTIONS: tuple[type[Action], ...] = (
    Convert,
    SwapTensors,
    SetData,
    CastData,
    FillGrad,
    ClearGrad,
    SetGrad,
    RequiresGrad,
    RetainGrad,
    Write,
    Forward,
    Product,
    Backward,
    View,
    Detach,
    Drop,
    TakeWeakref,
    RegisterHook,
    SetAttribute,
    Register,
    Tie,
    Unregister,
    Deepcopy,
    DeepcopyModule,
    NameTensor,
    SetFlag,
    MakeOptimizer,
    AddParamGroup,
    OptimizerStep,
    ZeroGrad,
)
"""Every kind of action, in the order in which a search proposes them."""

WITHOUT_METHODS: tuple[type[Action], ...] = (
    Convert,
    SwapTensors,
    SetData,
    CastData,
    SetGrad,
    ClearGrad,
    Drop,
    TakeWeakref,
    SetAttribute,
    Register,
    Tie,
    Deepcopy,
    NameTensor,
)
"""What can be done with a tensor whose class refuses every method but casts."""


def operands(kind: type[Action]) -> tuple[tuple[str, str], ...]:
    """The fields of an action that are places, with the kind of thing each needs."""
    return _OPERANDS[kind]


def _places(kind: type[Action]) -> tuple[tuple[str, str], ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        (name, hint.__metadata__[0])
        for name, hint in hints.items()
        if hasattr(hint, "__metadata__")
    )


_OPERANDS = {kind: _places(kind) for kind in ACTIONS}
