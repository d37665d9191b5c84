"""The pages say what is so: Python, commands and links of the documentation."""

import doctest
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs import pages
from tests.docs.pages import Shown
from tests.meta import tree

PAGES = pages.pages()

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

EXPENSIVE = ("make ", "git ", "swapmodel check", "swapmodel claims", "swapmodel con")
"""How a command starts that installs, searches or needs torch: it is not run here."""

COMMANDS = [
    pytest.param(one, id=f"{pages.named(path)}: {one.command}")
    for path in PAGES
    for one in pages.shown(path.read_text(encoding="utf-8"))
    if not one.command.startswith(EXPENSIVE)
]

TOOLS = {
    "hatchling": "hatchling",
    "mypy": "mypy",
    "pytest-xdist": "-n auto",
    "pytest-cov": "--cov ",
    "ruff": "ruff",
}
"""What is declared and never imported, with what the Makefile or a test calls."""


@pytest.mark.parametrize("path", PAGES, ids=pages.named)
def test_python(path: Path) -> None:
    """Every example in Python prints what the page says."""
    text = pages.python_of(path.read_text(encoding="utf-8"))
    test = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    failed, _ = doctest.DocTestRunner(optionflags=OPTIONS).run(test)

    assert failed == 0


def printed(command: str, folder: Path) -> str:
    """Run a command as the pages write it: `swapmodel` is the one that is here."""
    tool = f'swapmodel() {{ "{sys.executable}" -m swapmodel "$@"; }}'
    # A make inside a make says where it enters.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    return subprocess.run(
        ["bash", "-c", f"{tool}\n{command}"],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(tree.ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ).stdout


@pytest.mark.parametrize("one", COMMANDS)
def test_commands(one: Shown) -> None:
    """A command that is cheap to run prints what the page shows, `...` for the rest."""
    actual = printed(one.command, tree.ROOT)

    assert doctest.OutputChecker().check_output(one.output, actual, OPTIONS), actual


@pytest.mark.parametrize("path", PAGES, ids=pages.named)
def test_links(path: Path) -> None:
    """Every link into the project leads to a file, and to a heading if it names one."""
    assert list(pages.dangling(path, path.read_text(encoding="utf-8"))) == []


def test_a_dangling_link_is_noticed() -> None:
    """A file or a heading that is not there is reported; code and the web are not."""
    page = tree.ROOT / "README.md"
    wrong = "[a](nowhere.md) [b](README.md#nowhere) [c](#nowhere)"
    right = "[a](README.md) [b](https://x.org/) `[c](nowhere.md)`\n# D e\n[d](#d-e)"

    assert len(list(pages.dangling(page, wrong))) == 3
    assert pages.anchors("# D `e`: f!\n") == {"d-e-f"}
    assert list(pages.dangling(page, right.partition("\n")[0])) == []


def test_a_page_is_taken_apart() -> None:
    """Python keeps its lines, a command ends where the next one starts."""
    text = "T\n```python\n>>> 1\n1\n```\n```console\n$ a b\nc\n$ d\n```\n"

    assert pages.python_of(text) == "\n\n>>> 1\n1\n\n\n\n\n\n"
    assert list(pages.shown(text)) == [Shown("a b", "c\n"), Shown("d", "")]


def test_every_dependency_is_used() -> None:
    """A library that is declared is imported somewhere, or called as a tool."""
    path = tree.ROOT / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"], *extras["dev"]]
    code = "\n".join(
        source.text
        for folder in ("swapmodel", "tests", "bench")
        for source in tree.sources(folder)
    )
    called = (tree.ROOT / "Makefile").read_text(encoding="utf-8") + code
    for name in (one.partition(">=")[0] for one in declared):
        if name in TOOLS:
            assert TOOLS[name] in called, name
        else:
            assert f"import {name}" in code or f"from {name}" in code, name
