"""
Which classes of tensors do scripts and the lockstep world need, as Python source?

The source needs `import torch` alone and runs on every release that has a spec.
"""

from __future__ import annotations

TWO_TENSOR = '''\
class TwoTensor(torch.Tensor):
    """Two tensors behind one: every operation runs on `a` and on `b`."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, a, b):
        return torch.Tensor._make_wrapper_subclass(
            cls, a.shape, strides=a.stride(), dtype=a.dtype, device=a.device
        )

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __repr__(self):
        return f"TwoTensor({self.a!r}, {self.b!r})"

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, outer_size=None, outer_stride=None):
        return TwoTensor(inner["a"], inner["b"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def run_on(name):
            def part(one):
                return getattr(one, name) if isinstance(one, TwoTensor) else one

            return func(*tree_map(part, args), **tree_map(part, kwargs or {}))

        a, b = run_on("a"), run_on("b")
        if func._schema.name.endswith("_"):
            return args[0]
        return TwoTensor(a, b) if isinstance(a, torch.Tensor) else a
'''
"""A traceable wrapper with two inner tensors; it uses `IMPORTS` as well."""

IMPORTS = """\
import torch
from torch.utils._pytree import tree_map
"""
"""What the classes import."""

CLASSES = {"TwoTensor": TWO_TENSOR}
"""The source of every class that torch does not bring along, by name."""
