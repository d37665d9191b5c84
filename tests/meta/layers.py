"""Which module may import which: the chapters, their order and their libraries."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping

from attrs import frozen

CHAPTERS = (
    "state",
    "named",
    "graph_actions",
    "conversions",
    "optimizer_actions",
    "actions",
    "outcomes",
    "semantics",
    "invariants",
    "run",
    "search",
    "specfiles",
    "report",
    "check",
    "necessity",
    "conformance",
    "live",
    "commands",
    "cli",
    "__main__",
)
"""A module imports only from its own chapter and from those above it."""

ORDERED = ("state", "semantics", "live")
"""The chapters that must declare the reading order of their files."""

LIBRARIES: dict[str, frozenset[str]] = {
    "": frozenset(),
    "state": frozenset({"attrs"}),
    "named": frozenset(),
    "graph_actions": frozenset({"attrs"}),
    "conversions": frozenset({"attrs"}),
    "optimizer_actions": frozenset({"attrs"}),
    "actions": frozenset({"attrs"}),
    "outcomes": frozenset({"attrs"}),
    "semantics": frozenset({"attrs"}),
    "invariants": frozenset({"attrs"}),
    "run": frozenset({"attrs"}),
    "search": frozenset({"attrs", "hypothesis"}),
    "specfiles": frozenset({"attrs", "cattrs"}),
    "report": frozenset({"attrs", "jinja2"}),
    "check": frozenset({"attrs"}),
    "necessity": frozenset({"attrs"}),
    "conformance": frozenset({"attrs", "torch"}),
    "live": frozenset({"attrs", "torch", "pytest"}),
    "commands": frozenset({"attrs", "click"}),
    "cli": frozenset({"attrs", "click", "rich"}),
    "__main__": frozenset(),
}
"""What each chapter may import from outside the standard library."""

PACKAGE = "swapmodel"


@frozen
class Import:
    """One imported name: `from a.b import c` is `a.b.c`."""

    line: int
    name: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The name, split at its dots."""
        return tuple(self.name.split("."))


def imports(module: str, text: str, *, is_package: bool = False) -> Iterator[Import]:
    """
    Name every import, those in functions and under `TYPE_CHECKING` included.

    An import that runs late or never still says what a reader has to know first.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = node.level - is_package
                here = module.split(".")
                kept = here[: len(here) - up]
                base = ".".join([*kept, base] if base else kept)
            for alias in node.names:
                yield Import(node.lineno, f"{base}.{alias.name}")


def reading_order(text: str) -> tuple[str, ...] | None:
    """
    Read the modules that a package's docstring lists, or None without a list.

    The list starts at `Reading order:` and ends at a full stop, an empty line or
    the end of the docstring.
    """
    docstring = ast.get_docstring(ast.parse(text)) or ""
    found = re.search(r"^Reading order:(.*?)(?:\.|\n\s*\n|\Z)", docstring, re.M | re.S)
    if found is None:
        return None
    return tuple(re.findall(r"\w+", found[1]))


def chapter_of(module: str) -> str:
    """Name the chapter of a module; the package itself has the empty name."""
    return [*module.split("."), ""][1]


def wrong_layers(
    module: str,
    text: str,
    orders: Mapping[str, tuple[str, ...]],
    *,
    is_package: bool = False,
) -> Iterator[str]:
    """Report imports of what stands below *module*, or of what is in no chapter."""
    for found in imports(module, text, is_package=is_package):
        if found.parts[0] != PACKAGE or found.name == f"{PACKAGE}.__version__":
            continue
        if why := wrong_layer(module, found.parts, orders, is_package=is_package):
            yield f"{module}:{found.line} imports {found.name}: {why}"


def wrong_layer(
    module: str,
    parts: tuple[str, ...],
    orders: Mapping[str, tuple[str, ...]],
    *,
    is_package: bool,
) -> str | None:
    """Say why *module* may not import the internal name *parts*, if it may not."""
    here, there = chapter_of(module), (*parts, "")[1]
    if there not in CHAPTERS:
        return "not a chapter"
    if here == "":
        above = CHAPTERS[: CHAPTERS.index("conformance")]
        return None if there in above else "the package itself needs no torch"
    if here not in CHAPTERS:
        return f"{here} is not a chapter"
    if here != there:
        below = CHAPTERS.index(there) > CHAPTERS.index(here)
        return f"{there} stands below {here}" if below else None
    if is_package or here not in orders:
        return None
    return wrong_neighbour(module.split(".")[2], (*parts, "", "")[2], orders[here])


def wrong_neighbour(here: str, there: str, order: tuple[str, ...]) -> str | None:
    """Say why the file *here* may not import *there* of its own chapter."""
    if there not in order:
        return "not a file of the reading order; import from the file that defines it"
    if here in order and order.index(there) > order.index(here):
        return f"{there} is read after {here}"
    return None


def wrong_orders(
    chapter: str, order: tuple[str, ...] | None, files: set[str]
) -> Iterator[str]:
    """Report a reading order that is missing or is not the list of the files."""
    if order is None:
        if chapter in ORDERED:
            yield f"{PACKAGE}/{chapter}/__init__.py declares no `Reading order:`"
        return
    for name in sorted(files - set(order)):
        yield f"{PACKAGE}/{chapter}/{name}.py is not in the reading order"
    for name in sorted(set(order) - files):
        yield f"{PACKAGE}/{chapter} has no {name}.py, which its reading order lists"


def wrong_libraries(
    module: str, text: str, *, is_package: bool = False
) -> Iterator[str]:
    """Report imports of libraries that the chapter of *module* does without."""
    allowed = LIBRARIES.get(chapter_of(module), frozenset())
    for found in imports(module, text, is_package=is_package):
        top = found.parts[0]
        if top == PACKAGE or top in sys.stdlib_module_names or top in allowed:
            continue
        yield f"{module}:{found.line} imports {top}"
