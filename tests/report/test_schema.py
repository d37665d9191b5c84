"""The published schemas are those of what is written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swapmodel.report.explain import explain
from swapmodel.report.json import render_json
from swapmodel.report.schema import schemas
from swapmodel.run import Counterexample
from swapmodel.specfiles.read import load_spec
from tests.report import examples

PUBLISHED = Path(__file__).parents[2] / "docs" / "schemas"

TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}


def check(schema: dict[str, Any], data: Any, where: str = "$") -> None:
    """Validate data with the part of JSON Schema that the schemas use."""
    if "type" in schema:
        assert type(data) is TYPES[schema["type"]], where
    if "const" in schema:
        assert data == schema["const"], where
    if "enum" in schema:
        assert data in schema["enum"], where
    if schema.get("type") == "object":
        assert list(data) == schema["required"] == list(schema["properties"]), where
        for name, part in schema["properties"].items():
            check(part, data[name], f"{where}.{name}")
    if schema.get("type") == "array":
        parts = schema.get("prefixItems") or [schema["items"]] * len(data)
        for number, (part, one) in enumerate(zip(parts, data, strict=True)):
            check(part, one, f"{where}[{number}]")


def test_what_is_published_is_fresh() -> None:
    """`docs/schemas` holds what the records say, and nothing else."""
    published = {
        path.name: path.read_text(encoding="utf-8") for path in PUBLISHED.iterdir()
    }

    assert published == schemas()


@pytest.mark.parametrize("example", examples.CONFIRMED, ids=lambda one: one.__name__)
def test_counterexamples_follow_their_schema(
    example: Callable[[], Counterexample],
) -> None:
    """What is written as JSON is what the schema promises."""
    one = example()
    written = render_json(explain(one, load_spec(one.spec), "python x.py"))

    check(json.loads(schemas()["counterexample.schema.json"]), json.loads(written))
