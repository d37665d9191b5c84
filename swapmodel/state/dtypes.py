"""
Which dtypes and devices are there, in torch and in the model?
"""

from __future__ import annotations

INTEGERS = ("bool", "uint8", "int32", "int64")

FLOATING = ("float16", "bfloat16", "float32", "float64")
"""What `t.is_floating_point()` is true of."""

COMPLEX = ("complex64", "complex128")
"""What `t.is_complex()` is true of."""

DIFFERENTIABLE = (*FLOATING, *COMPLEX)
"""What can require a gradient."""

DTYPES = (*DIFFERENTIABLE, *INTEGERS)
"""What is modelled."""

DENSE_DEVICES = ("cpu", "cuda")
"""Devices between which a dense impl can be copied shallowly."""

DEVICES = (*DENSE_DEVICES, "meta")
"""What is modelled; `cuda` is one device, the current one."""

# -- What else torch has ---------------------------------------------------------------

OTHER_FLOATS = (
    "complex32",
    "float4_e2m1fn_x2",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
)
"""Floating or complex dtypes that are not modelled."""

OTHER_INTEGERS = (
    *("int8", "int16", "uint16", "uint32", "uint64"),
    *(f"int{bits}" for bits in range(1, 8)),
    *(f"uint{bits}" for bits in range(1, 8)),
    *("bits8", "bits16", "bits1x8", "bits2x4", "bits4x2"),
    *("qint8", "qint32", "quint8", "quint4x2", "quint2x4"),
)
"""Dtypes that are not modelled, and of which no floating nor complex number is."""

TORCH_DTYPES = (*DTYPES, *OTHER_FLOATS, *OTHER_INTEGERS)
"""Every dtype of torch 2.13.0, under the name that it prints."""

ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "bit": "uint1",
    "chalf": "complex32",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
"""Other names of dtypes in torch, with the one that it prints."""

TORCH_DEVICES = (
    *DEVICES,
    *("ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia"),
    *("xla", "lazy", "vulkan", "mps", "hpu", "mtia", "privateuseone"),
)
"""Every type of device of torch 2.13.0; an index can follow, as in `cuda:1`."""
