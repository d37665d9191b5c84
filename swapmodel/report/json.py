"""
How is an explanation told to a machine?  As `docs/schemas/` says.
"""

from __future__ import annotations

import json

from attrs import asdict

from swapmodel.report.explain import Explanation

FORMAT = 1
"""The version of the format; it grows when a field changes its meaning or goes."""


def render_json(one: Explanation) -> str:
    """A counterexample as JSON, keys in the order of the fields."""
    return dumps({"format": FORMAT, **asdict(one)})


def dumps(data: object) -> str:
    """Data as readable JSON that ends in a newline."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
