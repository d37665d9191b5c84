"""Tests mirror sources: what a file does is tested in the file of its name."""

from pathlib import Path

import pytest

from tests.meta import tree

ELSEWHERE = {
    f"conformance/{name}.py": "conformance/test_areas.py"
    for name in (
        "about_modules",
        "starts_of_conversions",
        "starts_of_functions",
        "starts_of_graphs",
        "starts_of_modules",
        "starts_of_optimizers",
        "starts_of_weakrefs",
    )
} | {
    "conformance/starts.py": "conformance/test_world.py",
    "conformance/starts_at_random.py": "conformance/test_drawing.py",
    "conformance/starts_of_swaps.py": "conformance/test_conform.py",
}
"""Start heaps and actions of the lockstep, which tests take from all of them."""

MEASURED = ("state", "semantics", "invariants")
"""The chapters of which `make coverage` wants every branch."""


def unmirrored(names: set[str], tests: set[str]) -> list[str]:
    """Which files have no test file of their name."""
    return sorted(
        name
        for name in names
        if str(Path(name).with_name(f"test_{Path(name).name}")) not in tests
    )


def test_every_file_has_its_tests() -> None:
    """But those that only list what others run."""
    package, tests = tree.ROOT / "swapmodel", tree.ROOT / "tests"
    names = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if not path.name.startswith("__")
    }
    there = {str(path.relative_to(tests)) for path in tests.rglob("test_*.py")}

    assert unmirrored(names, there) == sorted(ELSEWHERE)
    assert set(ELSEWHERE.values()) <= there


def test_a_file_without_tests_is_noticed() -> None:
    """One of the same name in another chapter does not count."""
    names = {"run.py", "state/heap.py"}

    assert unmirrored(names, {"test_run.py", "semantics/test_heap.py"}) == [
        "state/heap.py"
    ]
    assert unmirrored(names, {"test_run.py", "state/test_heap.py"}) == []


@pytest.mark.parametrize("chapter", MEASURED)
def test_what_is_measured(chapter: str) -> None:
    """The chapters whose branches are counted are named where it is counted."""
    project = (tree.ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert f'"swapmodel/{chapter}"' in project
    assert "pragma: no " + "cover" not in "".join(
        source.text for source in tree.sources("swapmodel")
    )
