"""
How is a table written as TOML?

Only what our files hold: texts, integers, booleans, arrays and tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swapmodel.specfiles.schema import BARE

WIDTH = 88

ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n", ord("\t"): "\\t"}


def document(table: Mapping[str, object]) -> str:
    """
    Write a file: plain keys first, then tables, then arrays of tables.

    Tables below the second level are written inline.
    """
    parts = ["".join(_line(key, one) for key, one in table.items() if _plain(one))]
    for key, one in table.items():
        if isinstance(one, Mapping):
            parts.append(f"[{_key(key)}]\n{_lines(one)}")
        elif not _plain(one):
            assert isinstance(one, Sequence)
            parts.extend(f"[[{_key(key)}]]\n{_lines(row)}" for row in one)
    return "\n".join(part for part in parts if part)


def _plain(value: object) -> bool:
    if isinstance(value, Mapping):
        return False
    tables = isinstance(value, Sequence) and not isinstance(value, str)
    return not (tables and value and all(isinstance(one, Mapping) for one in value))  # type: ignore[attr-defined]


def _lines(table: Mapping[str, object], prefix: str = "") -> str:
    lines = []
    for key, one in table.items():
        full = f"{prefix}{_key(key)}"
        line = f"{full} = {value(one)}\n"
        if isinstance(one, Mapping) and len(line) > WIDTH:
            line = _lines(one, f"{full}.")
        lines.append(line)
    return "".join(lines)


def _line(key: str, one: object) -> str:
    return f"{_key(key)} = {value(one)}\n"


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else value(key)


def value(one: object) -> str:
    """Write a value on one line."""
    if isinstance(one, bool):
        return "true" if one else "false"
    if isinstance(one, int):
        return str(one)
    if isinstance(one, str):
        return f'"{_escaped(one)}"'
    if isinstance(one, Mapping):
        inner = ", ".join(f"{_key(key)} = {value(row)}" for key, row in one.items())
        return f"{{ {inner} }}" if inner else "{}"
    assert isinstance(one, Sequence), f"TOML has no {type(one).__name__}"
    return f"[{', '.join(value(row) for row in one)}]"


def _escaped(text: str) -> str:
    text = text.translate(ESCAPES)
    return "".join(
        f"\\u{ord(c):04X}" if ord(c) < 0x20 or ord(c) == 0x7F else c for c in text
    )
