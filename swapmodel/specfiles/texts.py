"""
What does torch say when a rule refuses?

The texts are data of a spec: `{operand}` and the like stand for what the refusal
tells, and `...` for what the model does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from swapmodel.outcomes import Refusal
from swapmodel.semantics.spec import Spec

SPELLINGS: Mapping[str, Mapping[str, str]] = {
    "letter": {"t1": "a", "t2": "b"},
    "typemeta": {
        "float16": "c10::Half",
        "bfloat16": "c10::BFloat16",
        "float32": "float",
        "float64": "double",
        "int32": "int",
        "int64": "long int",
        "uint8": "unsigned char",
        "complex64": "c10::complex<float>",
        "complex128": "c10::complex<double>",
    },
    "scalartype": {
        "float16": "Half",
        "bfloat16": "BFloat16",
        "float32": "Float",
        "float64": "Double",
        "int32": "Int",
        "int64": "Long",
        "uint8": "Byte",
        "bool": "Bool",
        "complex64": "ComplexFloat",
        "complex128": "ComplexDouble",
    },
    "tensortype": {
        "float16": "HalfTensor",
        "bfloat16": "BFloat16Tensor",
        "float32": "FloatTensor",
        "float64": "DoubleTensor",
        "complex64": "ComplexFloatTensor",
        "int32": "IntTensor",
        "int64": "LongTensor",
        "uint8": "ByteTensor",
        "bool": "BoolTensor",
    },
    "package": {"cpu": "", "cuda": "cuda.", "meta": "meta."},
}
"""How torch spells what the model names otherwise: `{dtype:typemeta}`."""

FACTS = (
    "a",
    "b",
    "class",
    "count",
    "device",
    "dtype",
    "expected",
    "found",
    "function",
    "index",
    "key",
    "kind",
    "module",
    "new",
    "number",
    "old",
    "operand",
    "size",
)
"""What the refusals tell: `{count}`."""

FIELD = re.compile(r"\{(\w+)(?::(\w*))?\}")


def text_of(spec: Spec, refusal: Refusal) -> str | None:
    """The text that torch gives for a refusal, or `None` where the spec has none."""
    template = dict(spec.messages).get(refusal.rule)
    if template is None:
        return None
    facts = {"operand": refusal.operand, **dict(refusal.facts)}

    def told(field: re.Match[str]) -> str:
        name, spelling = field[1], field[2]
        if name not in facts:
            return field[0]
        value = str(facts[name])
        return SPELLINGS[spelling].get(value, value) if spelling else value

    return FIELD.sub(told, template)


def says(text: str, actual: str) -> bool:
    """Whether an actual text is the expected one, `...` standing for anything."""
    parts = (re.escape(part) for part in text.split("..."))
    return re.fullmatch(".*".join(parts), actual, re.DOTALL) is not None


def unknown_field(template: str) -> tuple[str, str, Iterable[str]] | None:
    """
    What a text asks for that no refusal tells or that torch has no words for.

    With what it was taken for, a fact or a spelling, and those that there are.
    """
    for name, spelling in FIELD.findall(template):
        if name not in FACTS:
            return "fact", name, FACTS
        if spelling and spelling not in SPELLINGS:
            return "spelling", spelling, SPELLINGS
    return None
