"""The files of this project look as they should, and each check can fail."""

import tomllib

import pytest

from tests.meta import checks, tree

CODE = ("swapmodel", "tests")


def test_files_fit_into_one_sitting() -> None:
    """No Python file has more than 300 lines."""
    found = [
        why
        for folder in CODE
        for source in tree.sources(folder)
        for why in checks.long_files(str(source.path), source.text)
    ]

    assert found == []
    assert list(checks.long_files("a.py", "x\n" * 300)) == []
    assert len(list(checks.long_files("a.py", "x\n" * 301))) == 1


def test_functions_fit_on_a_screen() -> None:
    """No function has more than 40 lines, a dispatcher of `step` 60."""
    found = [
        why
        for source in tree.sources("swapmodel")
        for why in checks.long_functions(source.module, source.text)
    ]

    assert found == []


def test_a_long_function_is_noticed() -> None:
    """A method or an inner function of 41 lines is reported, one of 40 is not."""
    body = "        x = 1\n"
    method = "class A:\n    def f(self):\n"

    assert list(checks.long_functions("m", method + body * 39)) == []
    assert len(list(checks.long_functions("m", method + body * 40))) == 1


def test_a_long_dispatcher_is_noticed() -> None:
    """A `match` buys 20 lines in the module of `step` and nowhere else."""
    cases = "".join(f"        case {n}:\n            pass\n" for n in range(29))
    dispatcher = "def step(a):\n    match a:\n" + cases
    longer = dispatcher + "    return\n"

    assert list(checks.long_functions(checks.DISPATCHERS, dispatcher)) == []
    assert len(list(checks.long_functions(checks.DISPATCHERS, longer))) == 1
    assert len(list(checks.long_functions("swapmodel.run", dispatcher))) == 1


def test_semantics_read_no_ghost() -> None:
    """What torch does never depends on what an invariant remembers."""
    found = [
        why
        for source in tree.sources("swapmodel/semantics")
        for why in checks.ghost_reads(source.module, source.text)
    ]

    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "if saved.ghost_value: pass",
        "saved.ghost_count += 1",
        "x = getattr(saved, 'ghost_value')",
        "match saved:\n    case Saved(ghost_value=v): pass",
    ],
)
def test_a_ghost_read_is_noticed(text: str) -> None:
    """Each way to read a ghost is reported once."""
    assert len(list(checks.ghost_reads("m", text))) == 1


@pytest.mark.parametrize("text", ["Saved(ghost_value=v)", "saved.ghost_value = v"])
def test_a_ghost_may_be_set(text: str) -> None:
    """Semantics set ghosts, in a constructor or in a draft."""
    assert list(checks.ghost_reads("m", text)) == []


def test_public_names_have_docstrings() -> None:
    """Every module and every public function, class and method says what it is."""
    found = [
        why
        for source in tree.sources("swapmodel")
        for why in checks.without_docstring(source.module, source.text)
    ]

    assert found == []


def test_a_missing_docstring_is_noticed() -> None:
    """Module, function, class and method are reported; private names are not."""
    bare = "def f(): pass\nclass A:\n    def g(self): pass\n    def _h(self): pass\n"
    full = '"""M."""\ndef f():\n    """F."""\n    def inner(): pass\n'

    assert len(list(checks.without_docstring("m", bare))) == 4
    assert list(checks.without_docstring("m", full)) == []


def test_no_file_mentions_one_machine() -> None:
    """Nothing in git names a folder of one machine or the host of a registry."""
    found = [
        why
        for name, text in tree.texts_in_git()
        for why in checks.forbidden(name, text)
    ]

    assert found == []


def test_a_forbidden_word_is_noticed() -> None:
    """Each forbidden word is reported; TODO only where the norm stands."""
    everything = "\n".join(checks.FORBIDDEN)

    assert len(list(checks.forbidden("a.md", everything))) == len(checks.FORBIDDEN)
    assert list(checks.forbidden("a.md", "framework/x TODO")) == []
    assert len(list(checks.forbidden("swapmodel/semantics/a.py", "# TODO x"))) == 1


def test_changelog_and_version() -> None:
    """The changelog has an `Unreleased` section, and there is one version."""
    changelog = (tree.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    project = tomllib.loads((tree.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    package = tree.source(tree.ROOT / "swapmodel" / "__init__.py")

    assert checks.unreleased(changelog)
    assert project["project"]["version"] == checks.version_in(package.text)


def test_a_missing_section_or_version_is_noticed() -> None:
    """An empty section is none, and a computed version is none."""
    assert checks.unreleased("# C\n\n## Unreleased\n\n- A.\n\n## 0.1.0\n")
    assert not checks.unreleased("# C\n\n## Unreleased\n\n## 0.1.0\n\n- A.\n")
    assert not checks.unreleased("# C\n\n## 0.1.0\n\n- A.\n")
    assert checks.version_in('__version__ = "1.2"') == "1.2"
    assert checks.version_in('__version__: str = "1.2"') == "1.2"
    assert checks.version_in("__version__ = read()") is None
