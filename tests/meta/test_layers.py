"""The import layers hold, and the check of them would notice if they did not."""

from pathlib import Path

import pytest

from tests.meta import layers, tree

ORDERS = {"state": ("ids", "tensors", "heap")}


def orders_in_tree() -> dict[str, tuple[str, ...]]:
    """Read the reading order of every chapter that is a folder and declares one."""
    orders = {}
    for found in tree.sources("swapmodel"):
        order = layers.reading_order(found.text)
        if found.is_package and order is not None and found.module != layers.PACKAGE:
            orders[layers.chapter_of(found.module)] = order
    return orders


def files_of(folder: Path) -> set[str]:
    """Name the modules and packages directly inside *folder*."""
    return {
        path.stem
        for path in folder.iterdir()
        if (path.suffix == ".py" and path.stem != "__init__")
        or (path / "__init__.py").is_file()
    }


def test_chapters_import_only_what_stands_above() -> None:
    """No module of the project imports what stands below it."""
    orders = orders_in_tree()
    found = [
        why
        for source in tree.sources("swapmodel")
        for why in layers.wrong_layers(
            source.module, source.text, orders, is_package=source.is_package
        )
    ]

    assert found == []


def test_reading_orders_list_the_files() -> None:
    """A chapter's reading order names its files, all of them and no others."""
    orders = orders_in_tree()
    found = [
        why
        for folder in sorted((tree.ROOT / "swapmodel").iterdir())
        if (folder / "__init__.py").is_file()
        for why in layers.wrong_orders(
            folder.name, orders.get(folder.name), files_of(folder)
        )
    ]

    assert found == []


def test_the_package_lists_the_chapters_in_their_order() -> None:
    """The reading order of the package is the order of the layers that there are."""
    package = tree.source(tree.ROOT / "swapmodel" / "__init__.py")
    order = layers.reading_order(package.text)

    assert order is not None
    chapters = {one.stem for one in (tree.ROOT / "swapmodel").iterdir()}
    there = [name for name in layers.CHAPTERS if name in chapters]
    assert [*order, "__main__"] == there


def test_torch_is_asked_in_two_chapters() -> None:
    """Everything else runs, and is tested, where there is no torch."""
    named = layers.LIBRARIES.items()
    with_torch = {one for one, libraries in named if "torch" in libraries}

    assert with_torch == {"conformance", "live"}


def test_libraries_are_on_the_list_of_their_chapter() -> None:
    """No module of the project imports a library that its chapter does without."""
    found = [
        why
        for source in tree.sources("swapmodel")
        for why in layers.wrong_libraries(
            source.module, source.text, is_package=source.is_package
        )
    ]

    assert found == []


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("swapmodel.state.heap", "from swapmodel.semantics.swap import swap_tensors"),
        ("swapmodel.state.heap", "from swapmodel import actions"),
        ("swapmodel.state.heap", "from .. import actions"),
        ("swapmodel.state.heap", "def late():\n    import swapmodel.cli"),
        ("swapmodel.state.ids", "from swapmodel.state.heap import Heap"),
        ("swapmodel.state.ids", "from .heap import Heap"),
        ("swapmodel.state.ids", "from . import heap"),
        ("swapmodel.state.heap", "from swapmodel.state import Tensor"),
        ("swapmodel.actions", "from swapmodel.outcomes import Done"),
        ("swapmodel.run", "from swapmodel.utils import chunks"),
        ("swapmodel.run", "import swapmodel"),
        ("swapmodel.utils", "from swapmodel.state import Heap"),
    ],
)
def test_a_wrong_layer_is_noticed(module: str, text: str) -> None:
    """Each way to spell an import of what stands below is reported once."""
    assert len(list(layers.wrong_layers(module, text, ORDERS))) == 1


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("swapmodel.state.heap", "from swapmodel.state.ids import TensorId"),
        ("swapmodel.state.heap", "from .ids import TensorId\nfrom . import tensors"),
        ("swapmodel.semantics.swap", "from swapmodel.state import Heap"),
        ("swapmodel.report.text", "from swapmodel import __version__"),
        ("swapmodel.cli", "from swapmodel.conformance import lockstep"),
        ("swapmodel.__main__", "from swapmodel.cli import main"),
    ],
)
def test_a_right_layer_is_let_through(module: str, text: str) -> None:
    """What stands above may be imported."""
    assert list(layers.wrong_layers(module, text, ORDERS)) == []


def test_a_package_may_import_its_files_and_stays_free_of_torch() -> None:
    """An `__init__` gathers its chapter; the package's own stops before torch."""
    heap = "from swapmodel.state.heap import Heap"
    world = "from swapmodel.conformance import world"

    def wrong(module: str, text: str) -> int:
        return len(list(layers.wrong_layers(module, text, ORDERS, is_package=True)))

    assert wrong("swapmodel.state", heap) == 0
    assert wrong("swapmodel.state", "from .heap import Heap") == 0
    assert wrong("swapmodel", heap) == 0
    assert wrong("swapmodel", world) == 1


def test_reading_order_is_read_from_the_docstring() -> None:
    """The list may go over lines and ends at a full stop or an empty line."""
    wrapped = '"""X.\n\nReading order: a, b,\nc.  More.\n"""'
    open_ended = '"""X.\n\nReading order: a, b\n\nMore."""'

    assert layers.reading_order(wrapped) == ("a", "b", "c")
    assert layers.reading_order(open_ended) == ("a", "b")
    assert layers.reading_order('"""X."""') is None


def test_a_wrong_reading_order_is_noticed() -> None:
    """A list that is missing, too short or too long is reported."""
    assert len(list(layers.wrong_orders("state", None, {"ids"}))) == 1
    assert len(list(layers.wrong_orders("state", ("ids",), {"ids", "heap"}))) == 1
    assert len(list(layers.wrong_orders("state", ("ids", "heap"), {"ids"}))) == 1
    assert list(layers.wrong_orders("report", None, {"text"})) == []


@pytest.mark.parametrize(
    ("module", "text", "count"),
    [
        ("swapmodel.state.heap", "import attrs, torch", 1),
        ("swapmodel.semantics.swap", "from hypothesis import given", 1),
        ("swapmodel.search.explore", "import hypothesis.stateful, rich", 1),
        ("swapmodel.report.text", "from click import echo", 1),
        ("swapmodel.cli", "import json, click\nfrom rich.table import Table", 0),
        ("swapmodel", "import attrs", 1),
    ],
)
def test_a_library_off_the_list_is_noticed(module: str, text: str, count: int) -> None:
    """A library is let through in the chapters that list it and nowhere else."""
    assert len(list(layers.wrong_libraries(module, text))) == count
