"""
Which names can a variable of a program keep in Python that is written for it?

A script has names of its own, and a variable of that name would stand in their way: it
gets an underscore behind it, and so does each that has underscores there already, so
that no two become one.
"""

from __future__ import annotations

import builtins
from keyword import iskeyword, kwlist

from swapmodel.report.optimizers import inside_optimizer
from swapmodel.report.snippets import CLASSES, FUNCTIONS, TOOLS
from swapmodel.semantics.places import segments

BEFORE = "before"
"""The variable in which scripts keep addresses."""

CONVERTED = "converted"
"""The variable of a module where a conversion is performed beside others."""

MADE = "made"
"""The variable in which a start heap keeps what is not finished."""

OF_SCRIPTS = (
    *(BEFORE, CONVERTED, MADE, "fired"),
    *("compare", "expect", "expect_refusal", "failed", "what", "predicted", "actual"),
    *("copy", "gc", "re", "subprocess", "sys", "torch", "weakref"),
    *("RELEASES", "VERSION", "ended", "error"),
)
"""What else scripts name, `eval` in a function of theirs included."""

RESERVED = {
    one.rstrip("_")
    for one in (
        *(*kwlist, *dir(builtins)),
        *("__annotations__", "__cached__", "__file__"),
        *(*CLASSES, *FUNCTIONS, *TOOLS, *OF_SCRIPTS),
    )
}
"""Names that no variable can keep, with underscores behind them or not."""


def variable(name: str) -> str:
    """A variable of a program as Python that is written for it calls it."""
    return f"{name}_" if name.rstrip("_") in RESERVED else name


def is_plain(name: str) -> bool:
    """Whether a name can stand behind a dot."""
    return name.isidentifier() and not iskeyword(name)


def reading(holder: str, name: str) -> str:
    """The expression that reads an attribute."""
    return f"{holder}.{name}" if is_plain(name) else f'getattr({holder}, "{name}")'


def setting(holder: str, name: str, value: str) -> str:
    """The line that sets an attribute."""
    if is_plain(name):
        return f"{holder}.{name} = {value}"
    return f'setattr({holder}, "{name}", {value})'


def deleting(holder: str, name: str) -> str:
    """The line that deletes an attribute."""
    return f"del {holder}.{name}" if is_plain(name) else f'delattr({holder}, "{name}")'


def expression(place: str) -> str:
    """A place as Python reads it; a name like `0` of a `Sequential` needs `getattr`."""
    first, *rest = segments(place)
    first = variable(first)
    for name in rest:
        name = inside_optimizer(first, name)
        plain = is_plain(name.partition("[")[0])
        first = f"{first}.{name}" if plain else reading(first, name)
    return first


def dtype(name: str) -> str:
    """A dtype as torch prints it."""
    return f"torch.{name}"
