"""
Which classes of tensors do scripts and the lockstep world need, as Python source?

The source needs `import torch` alone and runs on every release that has a spec.
"""

from __future__ import annotations

WRAPPER = '''\
class {name}(torch.Tensor):
    """{doc}"""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, a, b):
        return torch.Tensor._make_wrapper_subclass(
            cls, a.shape, strides=a.stride(), dtype=a.dtype, device=a.device
        )

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __repr__(self):
        return f"{name}({{self.a!r}}, {{self.b!r}})"
{flatten}
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def run_on(name):
            def part(one):
                return getattr(one, name) if isinstance(one, {name}) else one

            return func(*tree_map(part, args), **tree_map(part, kwargs or {{}}))

{fixed}        a, b = run_on("a"), run_on("b")
{unwrap}        if func._schema.name.endswith("_"):
            return args[0]
        return {name}(a, b) if isinstance(a, torch.Tensor) else a
'''
"""A class with two inner tensors; it uses `IMPORTS` as well."""

FLATTEN = """
    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, outer_size=None, outer_stride=None):
        return {name}(inner["a"], inner["b"])
"""
"""What makes a wrapper traceable."""

UNWRAP = """\
        if func is torch.ops.aten.detach.default:
            return a
"""
"""What makes a wrapper unfit for a `Parameter`."""

FIXED = """\
        if func is torch.ops.aten._to_copy.default:
            kwargs = {**kwargs, "dtype": None}
"""
"""What makes a wrapper keep its dtype."""

SUBCLASS = '''\
class {name}({base}):
    """{doc}"""
{body}'''
"""A class without inner tensors."""

DISABLED = "\n    __torch_function__ = torch._C._disabled_torch_function_impl\n"
"""What keeps `Tensor.__torch_function__` from converting results."""


def _wrapper(
    name: str,
    doc: str,
    *,
    flatten: bool = True,
    unwrap: bool = False,
    fixed: bool = False,
) -> str:
    return WRAPPER.format(
        name=name,
        doc=doc,
        flatten=FLATTEN.format(name=name) if flatten else "",
        unwrap=UNWRAP if unwrap else "",
        fixed=FIXED if fixed else "",
    )


def _subclass(
    name: str, doc: str, *, base: str = "torch.nn.Parameter", slots: str = ""
) -> str:
    body = f"\n    __slots__ = {slots}\n" if slots else ""
    if slots and base == "torch.Tensor":
        body += DISABLED
    return SUBCLASS.format(name=name, doc=doc, base=base, body=body)


RAISE_AT = '''\
class RaiseAt:
    """A function for `m._apply` that raises in place of one of its calls."""

    def __init__(self, number, fn):
        self.number, self.fn, self.count = number, fn, 0

    def __call__(self, t):
        self.count += 1
        if self.count == self.number:
            raise ValueError(f"the function raises in place of call {self.number}")
        return self.fn(t)
'''
"""The function of `conversions.RaiseAt`."""

TOOLS = ("tree_map",)
"""What they import by name."""

IMPORTS = """\
import torch
from torch.utils._pytree import tree_map
"""
"""What the classes import."""

CLASSES = {
    "TwoTensor": _wrapper(
        "TwoTensor", "Two tensors behind one: every operation runs on `a` and on `b`."
    ),
    "OpaqueTensor": _wrapper(
        "OpaqueTensor", "As TwoTensor, and it cannot be flattened.", flatten=False
    ),
    "UnwrappingTensor": _wrapper(
        "UnwrappingTensor", "As TwoTensor, and `detach()` gives `a`.", unwrap=True
    ),
    "FixedTensor": _wrapper(
        "FixedTensor", "As TwoTensor, and a cast keeps the dtype.", fixed=True
    ),
    "SubTensor": _subclass(
        "SubTensor", "What every operation on it gives, too.", base="torch.Tensor"
    ),
    "MyParameter": _subclass("MyParameter", "A user's parameter."),
    "SlottedParameter": _subclass(
        "SlottedParameter", "A parameter with slots.", slots='("x", "y")'
    ),
    "ReorderedParameter": _subclass(
        "ReorderedParameter", "A parameter with the same slots.", slots='("y", "x")'
    ),
    "NarrowParameter": _subclass(
        "NarrowParameter", "A parameter with one slot.", slots='("x",)'
    ),
    "SlottedTensor": _subclass(
        "SlottedTensor",
        "No parameter, with the slots of one.",
        base="torch.Tensor",
        slots='("x", "y")',
    ),
}
"""The source of every class that torch does not bring along, by name."""

FROM_TORCH = ("Tensor", "Parameter", "UninitializedParameter", "FakeTensor")
"""The classes that torch brings along."""

FUNCTIONS = {"RaiseAt": RAISE_AT}
"""The source of every function that a conversion can need, by name."""
