"""What a file of this project may look like; each check takes text, not a path."""

import ast
import re
from collections.abc import Iterator

LINES_OF_A_FILE = 300
LINES_OF_A_FUNCTION = 40
LINES_OF_A_DISPATCHER = 60
"""A function of `semantics/step.py` whose body dispatches with `match`."""

DISPATCHERS = "swapmodel.semantics.step"

Function = ast.FunctionDef | ast.AsyncFunctionDef

# In two pieces, because this file is searched too.
FORBIDDEN = (
    ".." + "/shared",
    "/wo" + "rk/",
    "/ro" + "ot/",
    "/ho" + "me/",
    "pypi" + ".org",
    "pythonhosted" + ".org",
    "download.pytorch" + ".org",
    "registry.npmjs" + ".org",
    "deb.debian" + ".org",
)
"""Folders of one machine and hosts of registries."""


def long_files(name: str, text: str) -> Iterator[str]:
    """Report a file that does not fit into one sitting."""
    lines = len(text.splitlines())
    if lines > LINES_OF_A_FILE:
        yield f"{name} has {lines} lines, {LINES_OF_A_FILE} are allowed"


def long_functions(module: str, text: str) -> Iterator[str]:
    """Report functions that do not fit on a screen, docstring included."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, Function) or node.end_lineno is None:
            continue
        dispatches = module == DISPATCHERS and any(
            isinstance(statement, ast.Match) for statement in node.body
        )
        limit = LINES_OF_A_DISPATCHER if dispatches else LINES_OF_A_FUNCTION
        lines = node.end_lineno - node.lineno + 1
        if lines > limit:
            yield f"{module}:{node.lineno} {node.name} has {lines} lines, not {limit}"


def ghost_reads(module: str, text: str) -> Iterator[str]:
    """
    Report reads of fields named `ghost_*`: attribute, `getattr` or pattern.

    A ghost remembers what an invariant asks about; torch has no such memory.
    To set one, in a constructor or in a draft, is what it is there for.
    """
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        match node:
            case ast.Attribute(attr=name, ctx=ast.Load()):
                names = [name]
            case ast.AugAssign(target=ast.Attribute(attr=name)):
                names = [name]
            case ast.Call(
                func=ast.Name(id="getattr"), args=[_, ast.Constant(value), *_]
            ):
                names = [str(value)]
            case ast.MatchClass(kwd_attrs=patterns):
                names = patterns
        for name in names:
            if name.startswith("ghost_"):
                yield f"{module}:{getattr(node, 'lineno', 0)} reads {name}"


def without_docstring(module: str, text: str) -> Iterator[str]:
    """Report the module and its public functions, classes and methods without one."""
    tree = ast.parse(text)
    if ast.get_docstring(tree) is None:
        yield f"{module} has no docstring"
    yield from _without_docstring(module, tree.body)


def _without_docstring(module: str, body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if not isinstance(node, Function | ast.ClassDef) or node.name.startswith("_"):
            continue
        marks = {ast.unparse(d).rpartition(".")[2] for d in node.decorator_list}
        if marks & {"overload", "setter", "deleter", "override"}:
            continue
        if ast.get_docstring(node) is None:
            yield f"{module}:{node.lineno} {node.name} has no docstring"
        if isinstance(node, ast.ClassDef):
            yield from _without_docstring(module, node.body)


def forbidden(name: str, text: str) -> Iterator[str]:
    """Report what means nothing outside one machine, and work left in the norm."""
    for number, line in enumerate(text.splitlines(), 1):
        for word in FORBIDDEN:
            if word in line:
                yield f"{name}:{number} mentions {word}"
        if name.startswith("swapmodel/semantics/") and re.search(r"\bTODO\b", line):
            yield f"{name}:{number} leaves something to do in the semantics"


def unreleased(changelog: str) -> bool:
    """Whether the changelog has a section for what is not released, with a sentence."""
    section = re.search(r"^## Unreleased\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    return section is not None and bool(section[1].strip())


def version_in(text: str) -> str | None:
    """Read the literal that a module assigns to `__version__`."""
    for node in ast.parse(text).body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="__version__")], value=ast.Constant(v))
                | ast.AnnAssign(
                    target=ast.Name(id="__version__"), value=ast.Constant(v)
                )
            ):
                return str(v)
    return None
