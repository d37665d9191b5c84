"""
Which classes of tensors and of modules are there, and what do they do?

A class here is what the conversion machinery can tell apart, not the class itself.
"""

from __future__ import annotations

from functools import cache

from attrs import field, frozen


@frozen(kw_only=True)
class TensorClass:
    """What torch can ask of a tensor's class."""

    name: str
    """`type(t).__name__`."""

    parameter: bool = False
    """Whether it is `Parameter` or derives from it."""

    inner: tuple[str, ...] = ()
    """The names of a wrapper's inner tensors, outermost first."""

    traceable: bool = False
    """Whether it has `__tensor_flatten__` and `__tensor_unflatten__`."""

    slots: tuple[str, ...] = ()
    """`copyreg._slotnames(cls)`, in the order in which the class lists them."""

    converts: bool = False
    """Whether `Tensor.__torch_function__` turns every result into one of it."""

    unwraps: bool = False
    """Whether a wrapper's `detach()` gives its first inner tensor, detached."""

    fixed: bool = False
    """Whether a wrapper answers a cast with a copy of the dtype that it has."""

    uninitialized: bool = False
    """Whether `__torch_function__` refuses everything but casts and properties."""

    fake: bool = False
    """Whether it is `FakeTensor`, of which only the choice of a path is modelled."""

    @property
    def overrides(self) -> bool:
        """Whether its `__torch_function__` does anything."""
        return self.converts or self.uninitialized

    @property
    def plain(self) -> bool:
        """Whether `Parameter(t)` makes a `Parameter`, and marks nothing."""
        return self.name in ("Tensor", "Parameter")

    slot_names: tuple[str, ...] = field(init=False)
    """The slots, in no order that matters."""

    layout: tuple[bool, tuple[str, ...]] = field(init=False)
    """What must agree for `t.__class__ = cls`: the slots, and what adds them."""

    @slot_names.default
    def _sorted_slots(self) -> tuple[str, ...]:
        return tuple(sorted(self.slots))

    @layout.default
    def _laid_out(self) -> tuple[bool, tuple[str, ...]]:
        return (self.parameter and bool(self.slots), self.slot_names)


_ALL = (
    TensorClass(name="Tensor"),
    TensorClass(name="Parameter", parameter=True),
    TensorClass(name="TwoTensor", inner=("a", "b"), traceable=True),
    TensorClass(name="OpaqueTensor", inner=("a", "b")),
    TensorClass(
        name="UnwrappingTensor", inner=("a", "b"), traceable=True, unwraps=True
    ),
    TensorClass(name="SubTensor", converts=True),
    TensorClass(name="MyParameter", parameter=True),
    TensorClass(name="SlottedParameter", parameter=True, slots=("x", "y")),
    TensorClass(name="ReorderedParameter", parameter=True, slots=("y", "x")),
    TensorClass(name="NarrowParameter", parameter=True, slots=("x",)),
    TensorClass(name="SlottedTensor", slots=("x", "y")),
    TensorClass(name="UninitializedParameter", parameter=True, uninitialized=True),
    TensorClass(name="FakeTensor", fake=True),
    TensorClass(name="FixedTensor", inner=("a", "b"), traceable=True, fixed=True),
)

CLASSES = {one.name: one for one in _ALL}
"""The classes that programs and files can name."""

_LIVE = (
    TensorClass(name="LoggingTensor", inner=("elem",), slots=("elem",)),
    TensorClass(name="WrapperTensorWithCustomSizes", inner=("t",)),
    TensorClass(name="WrapperTensorWithCustomStrides", inner=("t",)),
)

KNOWN = CLASSES | {one.name: one for one in _LIVE}
"""Those, and classes that torch keeps for its tests: only a live module has them."""

INNER = frozenset(name for one in _ALL for name in one.inner)
"""The names of inner tensors."""


def tensor_class(name: str) -> TensorClass:
    """The class of that name; `KeyError` for an unknown one."""
    return KNOWN[name]


# -- Modules ---------------------------------------------------------------------


@frozen(kw_only=True)
class ModuleClass:
    """What the conversion machinery can tell of a module's class."""

    name: str
    """`m._get_name()`."""

    flat_weights: tuple[str, ...] = ()
    """`m._flat_weights_names` of an `RNNBase` with one layer and no bias."""


RNN = ModuleClass(name="RNN", flat_weights=("weight_ih_l0", "weight_hh_l0"))

MODULE_CLASSES = {one.name: one for one in (RNN,)}
"""The classes that are more than a name."""


@cache
def module_class(name: str) -> ModuleClass:
    """The class of that name; any other name is that of a plain module."""
    return MODULE_CLASSES.get(name) or ModuleClass(name=name)
