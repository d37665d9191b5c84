"""
Which fields has the JSON of a counterexample and of the verdicts?

The schemas are made from the records that are written, and published in
`docs/schemas/`.
"""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints

import attrs

from swapmodel.report.explain import Explanation
from swapmodel.report.json import FORMAT, dumps
from swapmodel.report.verdicts import Row

DRAFT = "https://json-schema.org/draft/2020-12/schema"

SIMPLE = {str: "string", int: "integer", bool: "boolean"}


def schemas() -> dict[str, str]:
    """Every published schema, by the name of its file."""
    explanation = of_record(Explanation)
    explanation["properties"] = {
        "format": {"const": FORMAT},
        **explanation["properties"],
    }
    explanation["required"] = ["format", *explanation["required"]]
    verdicts = {
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "rows": {"type": "array", "items": of_record(Row)},
        },
        "required": ["format", "rows"],
        "additionalProperties": False,
    }
    return {
        "counterexample.schema.json": _published("a counterexample", explanation),
        "verdicts.schema.json": _published("the verdicts of a run", verdicts),
    }


def _published(what: str, schema: dict[str, Any]) -> str:
    return dumps({"$schema": DRAFT, "title": f"swapmodel: {what}", **schema})


def of_record(kind: type) -> dict[str, Any]:
    """The schema of a record: every field is there, and no other."""
    hints = get_type_hints(kind)
    names = [one.name for one in attrs.fields(kind)]
    return {
        "type": "object",
        "properties": {name: of_type(hints[name]) for name in names},
        "required": names,
        "additionalProperties": False,
    }


def of_type(hint: Any) -> dict[str, Any]:
    """The schema of one field."""
    if hint in SIMPLE:
        return {"type": SIMPLE[hint]}
    if get_origin(hint) is Literal:
        return {"enum": list(get_args(hint))}
    if get_origin(hint) is tuple:
        first, *rest = get_args(hint)
        if rest == [...]:
            return {"type": "array", "items": of_type(first)}
        items = [of_type(one) for one in (first, *rest)]
        return {"type": "array", "prefixItems": items, "items": False}
    return of_record(hint)
