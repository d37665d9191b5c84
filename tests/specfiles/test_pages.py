"""The page about the files names every key that is read from one."""

import re
from collections.abc import Iterable, Iterator

import pytest

from swapmodel.necessity import unobservable
from swapmodel.specfiles import schema
from swapmodel.specfiles.claims import known_causes
from swapmodel.specfiles.expect import PROPERTIES
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.given import heap_from_given
from swapmodel.specfiles.read import load_spec, spec_ids
from swapmodel.specfiles.rules import invariants, rules
from swapmodel.specfiles.scenario import BESIDE, load_scenario
from swapmodel.specfiles.scopes import load_scope, scope_ids
from swapmodel.specfiles.texts import FACTS, SPELLINGS

Read = list[tuple[str, tuple[str, ...]]]
"""Places in files, with the keys that may stand there."""

FREE = re.compile(r"^heaps$|(^|\.)(when|actions)\[")
"""Where keys are specs, or the fields of an action."""

GIVEN = {
    "tensors": {"w": {"class": "Parameter"}},
    "modules": {"m": {"parameters": {"w": "w"}}},
}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Read:
    """Where keys were looked at, while the test runs."""
    found: Read = []
    only = schema.Table.only

    def noted(table: schema.Table, known: Iterable[str]) -> None:
        names = tuple(known)
        if not FREE.search(table.where.path) or table.where.path.endswith(".refused"):
            found.append((str(table.where), names))
        only(table, names)

    monkeypatch.setattr(schema.Table, "only", noted)
    return found


def sections() -> dict[str, set[str]]:
    """What the page writes as code, by the first word of the section's title."""
    page = (specs_folder() / "README.md").read_text(encoding="utf-8")
    parts = re.split(r"^## ", page, flags=re.M)[1:]
    return {one.split()[0].rstrip(":"): set(code(one)) for one in parts}


def code(text: str) -> Iterator[str]:
    for one in re.findall(r"`([^`\n]+)`", text):
        yield one
        yield from re.findall(r"\w+", one)


SECTIONS = {
    "specs/releases": ("Releases",),
    "specs/proposals": ("Releases",),
    "specs/rules": ("Rules",),
    "specs/unobservable.toml": ("Changes",),
    "specs/invariants.toml": ("Invariants",),
    "specs/scopes": ("Scopes", "Actions"),
    "specs/scenarios": ("Scenarios", "Actions"),
    "specs/claims": ("Claims",),
    "mine.toml": ("Actions",),
}
"""Which sections of the page are about which files."""


def test_every_key_is_named(read: Read) -> None:
    """A key that a file may have is explained in the section about such files."""
    rules.cache_clear()
    invariants.cache_clear()
    for name in spec_ids():
        load_spec(name)
    unobservable()
    invariants()
    heap_from_given(GIVEN, "mine.toml")
    load_scope(scope_ids()[0])
    for path in sorted((specs_folder() / "scenarios" / "swap").glob("*.toml")):
        load_scenario(path)
    known_causes()
    named, missing, seen = sections(), [], set[str]()
    for where, keys in read:
        (begin,) = [one for one in SECTIONS if where.startswith(one)]
        seen.add(begin)
        known = set[str]().union(*(named[one] for one in SECTIONS[begin]))
        missing += [(where, key) for key in keys if key not in known]

    assert missing == []
    assert seen == {*SECTIONS}


def test_every_name_is_explained() -> None:
    """So are what may stand beside an action, properties, facts and spellings."""
    named = sections()

    assert {*BESIDE, *PROPERTIES} <= named["Scenarios"]
    assert set(SPELLINGS) <= named["Releases"]
    assert {"operand", "count", "module", "key", "dtype"} <= {*FACTS} & named[
        "Releases"
    ]
