"""A table says what is wrong with it in one line that names file and path."""

from collections.abc import Callable

import pytest

from swapmodel.specfiles.schema import BadInput, Table, Where, nearest, shown

TABLE = Table(
    {
        "text": "a",
        "empty": " ",
        "number": 1,
        "flag": True,
        "texts": ["a", 1],
        "numbers": [True],
        "rows": [{"x": 1}, 2],
        "name": "1x",
        "place": "m..w",
        "inner": {"a/b": {"deep": 1}},
    },
    Where("f.toml"),
)


def said(read: Callable[[], object]) -> str:
    """What a read is answered with."""
    with pytest.raises(BadInput) as error:
        read()
    return str(error.value)


def test_an_error_is_one_line() -> None:
    """What, where and what to write instead, whatever the texts hold."""
    error = BadInput("bad\nthing", Where("f.toml", "a.b"), "write  c")

    assert str(error) == "bad thing @ f.toml:a.b, write c"


@pytest.mark.parametrize(
    ("read", "line"),
    [
        (
            lambda: TABLE.text("gone"),
            "'gone' is missing @ f.toml, write gone = a text",
        ),
        (lambda: TABLE.text("number"), "1 is not a text @ f.toml:number, write a text"),
        (lambda: TABLE.text("empty"), "an empty text @ f.toml:empty, write a text"),
        (
            lambda: TABLE.number("flag"),
            "true is not an integer @ f.toml:flag, write an integer",
        ),
        (
            lambda: TABLE.flag("number"),
            "1 is not true or false @ f.toml:number, write true or false",
        ),
        (
            lambda: TABLE.texts("texts"),
            "1 does not belong into an array of texts @ f.toml:texts[1], "
            "write an array of texts",
        ),
        (
            lambda: TABLE.numbers("numbers"),
            "true does not belong into an array of integers @ f.toml:numbers[0], "
            "write an array of integers",
        ),
        (
            lambda: TABLE.tables("rows"),
            "2 does not belong into an array of tables @ f.toml:rows[1], "
            "write an array of tables",
        ),
        (
            lambda: TABLE.table("text"),
            "'a' is not a table @ f.toml:text, write a table",
        ),
        (
            lambda: TABLE.name("name"),
            "'1x' is no name @ f.toml:name, write a Python identifier",
        ),
        (
            lambda: TABLE.place("place"),
            "'m..w' is no place @ f.toml:place, "
            "write a variable or a path such as m.weight",
        ),
        (
            lambda: TABLE.table("inner").table("a/b").text("deep"),
            '1 is not a text @ f.toml:inner."a/b".deep, write a text',
        ),
        (
            lambda: TABLE.one_of("text", ["b", "c"], "letter"),
            "unknown letter 'a' @ f.toml:text, write b or c",
        ),
        (
            lambda: TABLE.table("inner").only(["a-b"]),
            "unknown key 'a/b' @ f.toml:inner.\"a/b\", write a-b",
        ),
    ],
)
def test_what_is_not_as_it_should_be(read: Callable[[], object], line: str) -> None:
    """Each wrong type, name or value has its line."""
    assert said(read) == line


def test_defaults() -> None:
    """What may be left out has its default; what is there is checked all the same."""
    assert TABLE.text("gone", "b") == "b"
    assert TABLE.texts("gone", ()) == ()
    assert TABLE.table("gone", required=False).rows == {}
    assert TABLE.tables("gone", required=False) == ()
    assert TABLE.one_of("gone", ["b"], "letter", "") == ""
    assert "gone" not in TABLE


@pytest.mark.parametrize("place", ["m", "m.weight.grad", "opt.param_groups[0][1]"])
def test_places(place: str) -> None:
    """Variables, paths and items of lists are places."""
    assert Table({"t": place}, Where("f")).place("t") == place


@pytest.mark.parametrize("place", ["m.class", "m w", "m;import os", "m.", "ü", ""])
def test_what_is_no_place(place: str) -> None:
    """Nothing that Python would read otherwise gets into a program."""
    with pytest.raises(BadInput):
        Table({"t": place}, Where("f")).place("t")


def test_nearest_names() -> None:
    """At most three names are offered, the likeliest first."""
    known = ["move-class", "move-impl", "move-slots", "few-owners"]

    assert nearest("mov-class", known).startswith("write move-class or ")
    assert nearest("x", known).count(" or ") == 2
    assert "none" in nearest("x", [])


def test_values_are_shown_shortly() -> None:
    """A long value does not fill the line."""
    assert shown(False) == "false"
    assert len(shown("x" * 100)) == 40
