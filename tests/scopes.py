"""Scopes that are small enough to be searched in a test, as files."""

from pathlib import Path

TINY = """
id = "tiny"
statement = "A wrapper with a gradient, and a tensor beside it."
depth = 2
actions = [
    { do = "convert", module = "m", fn = { cast = { dtype = "float64" } } },
    { do = "cast_data", t = "m.weight", dtype = "float64" },
    { do = "fill_grad", t = "m.weight" },
    { do = "take_weakref", type = "_WeakTensorRef", t = "m.weight", name = "r" },
]

[[start]]
id = "wrapper"
tensors.w = { class = "TwoTensor", attributes = { tag = 1 } }
tensors.t = {}
modules.m = { parameters = { weight = "w" } }
"""

ENDLESS = """
id = "endless"
statement = "More programs than anybody waits for."
depth = 50
actions = [
    { do = "forward", function = "scale", t = ["p", "a"], name = ["a", "b", "c", "d"] },
    { do = "forward", function = "square", t = ["p", "a"], name = ["a", "b", "d"] },
    { do = "view", t = ["p", "a", "b"], name = ["e", "f", "g"] },
    { do = "backward", t = ["a", "b", "c", "d"] },
    { do = "drop", name = ["a", "b", "c", "d", "e", "f", "g"] },
]

[[start]]
id = "plain"
tensors.p = { class = "Parameter", values = [1, 2] }
"""


def written(folder: Path, text: str, name: str) -> str:
    """Write a scope into a folder and give its path."""
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def tiny(folder: Path) -> str:
    """A scope of a few heaps, in which wrappers are torn and lose attributes."""
    return written(folder, TINY, "tiny")


def endless(folder: Path) -> str:
    """A scope that is not searched to its end."""
    return written(folder, ENDLESS, "endless")
