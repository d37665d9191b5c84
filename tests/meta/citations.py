"""Ids of rules and invariants: where they are cited and where they are explained."""

import io
import re
import tokenize
import tomllib
from collections.abc import Iterable, Iterator

ONE = r"\[([a-z0-9_.-]+/[A-Za-z0-9_.-]+)\]"
CITATION = re.compile(rf"#\s*((?:{ONE}[,\s]*)+)")

INVARIANT = "invariant/"


def cited(text: str) -> Iterator[str]:
    """
    Name the ids cited by comments that have a line of their own.

    A reason may follow the ids.  What looks like a citation in a docstring or
    after code is none.
    """
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        alone = token.line.lstrip().startswith("#")
        if token.type != tokenize.COMMENT or not alone:
            continue
        if found := CITATION.match(token.string):
            for one in re.finditer(ONE, found[1]):
                yield one[1]


def rules(text: str) -> Iterator[tuple[str, bool]]:
    """Read the ids of a file of `specs/rules`, and whether the code must cite each."""
    for rule in tomllib.loads(text).get("rule", []):
        yield rule["id"], rule.get("cited", True)


def invariants(text: str) -> Iterator[tuple[str, bool]]:
    """Read the ids of `specs/invariants.toml` as the code cites them."""
    for invariant in tomllib.loads(text).get("invariant", []):
        yield INVARIANT + invariant["id"], True


def open_ends(
    citations: Iterable[tuple[str, str]], entries: Iterable[tuple[str, bool]]
) -> Iterator[str]:
    """
    Report ids cited and not explained, explained and not cited, explained twice.

    *citations* are pairs of a module and an id.
    """
    places: dict[str, str] = {}
    for module, name in citations:
        places.setdefault(name, module)
    explained: dict[str, bool] = {}
    for name, must in entries:
        if name in explained:
            yield f"[{name}] has two entries"
        explained[name] = must
    for name in sorted(places.keys() - explained.keys()):
        yield f"[{name}], cited in {places[name]}, has no entry"
    for name in sorted(explained.keys() - places.keys()):
        if explained[name]:
            yield f"[{name}] has an entry and is cited nowhere"
