"""Actions are tables and tables are actions."""

import attrs
import pytest

from swapmodel.actions import ACTIONS, Action, Cast, Convert, Forward, SwapTensors, View
from swapmodel.specfiles.actions import (
    KINDS,
    action_from_table,
    actions_from_table,
    table_of,
)
from swapmodel.specfiles.scopes import load_scope, scope_ids
from tests.semantics.examples import EXAMPLES
from tests.specfiles.mine import said

SCOPES = [load_scope(name) for name in scope_ids()]
ALL = sorted({*EXAMPLES, *(one for scope in SCOPES for one in scope.actions)}, key=repr)


@pytest.mark.parametrize("action", ALL, ids=repr)
def test_round_trip(action: Action) -> None:
    """What is written of an action is read as that action."""
    assert action_from_table(table_of(action), "f") == action


def test_every_kind_is_tried() -> None:
    """The round trip is one of every kind of action."""
    assert {type(one) for one in ALL} == set(ACTIONS)
    assert set(KINDS.values()) == set(ACTIONS)


def test_names() -> None:
    """`do` is the class in snake case, and so is the kind of a function."""
    action = Convert("m", Cast("float64"))
    table = {"do": "convert", "module": "m", "fn": {"cast": {"dtype": "float64"}}}

    assert table_of(action) == table
    assert [one.name for one in attrs.fields(SwapTensors)] == ["t1", "t2"]
    assert table_of(SwapTensors("p", "q"))["do"] == "swap_tensors"


def test_a_list_stands_for_each_of_its_values() -> None:
    """A template is the product of its lists, in their order, nested ones included."""
    view = {"do": "view", "t": ["a", "b"], "name": ["v", "w"]}
    fn = {"cast": {"dtype": ["float32", "float64"]}}
    casts = actions_from_table({"do": "convert", "module": "m", "fn": fn}, "f")

    assert actions_from_table(view, "f") == (
        View("a", "v"),
        View("a", "w"),
        View("b", "v"),
        View("b", "w"),
    )
    assert casts == (Convert("m", Cast("float32")), Convert("m", Cast("float64")))


def test_a_default_may_be_left_out() -> None:
    """A field with a default needs no key."""
    table = {"do": "set_attribute", "t": "p", "key": "tag"}

    assert getattr(action_from_table(table, "f"), "value", None) == 1


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ({"do": "swap"}, "unknown action 'swap' @ f:do, write swap_tensors or "),
        ({"t": "p"}, "'do' is missing @ f, write do = a text"),
        ({"do": "view", "t": "p"}, "'name' is missing @ f, write name = a text"),
        (
            {"do": "view", "t": "p", "name": "v", "nam": "v"},
            "unknown key 'nam' @ f:nam, write name or ",
        ),
        (
            {"do": "forward", "function": "scael", "t": "p", "name": "y"},
            "unknown function 'scael' @ f:function, write scale or square",
        ),
        (
            {"do": "convert", "module": "m", "fn": {"cast": {"dtype": "float63"}}},
            "unknown dtype 'float63' @ f:fn.cast.dtype, write float",
        ),
        (
            {"do": "detach", "t": "p", "name": "probe"},
            "'probe' is what an invariant assigns to look ahead @ f:name, write ",
        ),
        (
            {"do": "cast_data", "t": "p", "dtype": "double"},
            "'double' is another name of a dtype @ f:dtype, write float64",
        ),
        (
            {"do": "convert", "module": "m", "fn": {"to_device": {"device": "cude"}}},
            "unknown device 'cude' @ f:fn.to_device.device, write cuda or ",
        ),
        (
            {"do": "convert", "module": "m", "fn": {"to_empty": {"device": "cpu:x"}}},
            "'cpu:x' is no device @ f:fn.to_empty.device, write cpu or cpu:0",
        ),
        (
            {"do": "convert", "module": "m", "fn": {"kast": {}}},
            "unknown key 'kast' @ f:fn.kast, write cast or raise_at or to",
        ),
        (
            {"do": "convert", "module": "m", "fn": {}},
            "exactly one key says what it is @ f:fn, write ",
        ),
        (
            {"do": "set_attribute", "t": "p", "key": "k", "value": "1"},
            "'1' is not an integer @ f:value, write an integer",
        ),
        (
            {"do": "drop", "name": "import os"},
            "'import os' is no name @ f:name, write a Python identifier",
        ),
        ({"do": "backward", "t": 1}, "1 is not a text @ f:t, write a text"),
    ],
)
def test_what_is_no_action(table: dict[str, object], line: str) -> None:
    """Each unknown name, missing key or wrong type has its line."""
    assert said(lambda: action_from_table(table, "f")).startswith(line)


def test_other_keys_beside() -> None:
    """A scenario says more about an action than its fields."""
    table = {"do": "forward", "function": "scale", "t": "p", "name": "y", "refused": 1}

    assert action_from_table(table, "f", ("refused",)) == Forward("scale", "p", "y")
