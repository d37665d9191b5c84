"""Graph actions: those that assign nothing are dispatched together."""

import attrs

from swapmodel import graph_actions
from swapmodel.actions import ACTIONS
from swapmodel.graph_actions import GRAPH_ACTIONS


def test_those_that_assign_no_variable() -> None:
    """They are exactly the chapter's actions without a name to assign."""
    here = [one for one in ACTIONS if one.__module__ == graph_actions.__name__]
    assigning = [one for one in here if "name" in attrs.fields_dict(one)]

    assert set(GRAPH_ACTIONS) == set(here) - set(assigning)
    assert len(set(GRAPH_ACTIONS)) == len(GRAPH_ACTIONS)


def test_grad_mode_is_on_unless_said_otherwise() -> None:
    """Every action that can be recorded is, by default."""
    modes = {
        one.__name__: attrs.fields_dict(one)["grad_mode"].default
        for one in ACTIONS
        if "grad_mode" in attrs.fields_dict(one)
    }

    assert modes == {"Forward": True, "Product": True, "View": True}
