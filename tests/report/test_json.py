"""JSON: what a report tells a machine is what the explanation holds."""

import json

from attrs import asdict

from swapmodel.report.explain import explain
from swapmodel.report.json import FORMAT, dumps, render_json
from swapmodel.specfiles.read import load_spec
from tests.report.examples import left_behind


def test_an_explanation_is_told_whole() -> None:
    """The version of the format comes first, then every field in its order."""
    example = left_behind()
    one = explain(example, load_spec(example.spec), "swapmodel run it")
    told = json.loads(render_json(one))

    assert list(told) == ["format", *asdict(one)]
    assert told.pop("format") == FORMAT
    assert told == json.loads(json.dumps(asdict(one)))


def test_readable() -> None:
    """Two spaces, no escapes, a newline at the end."""
    assert dumps({"a": ["ß"]}) == '{\n  "a": [\n    "ß"\n  ]\n}\n'
