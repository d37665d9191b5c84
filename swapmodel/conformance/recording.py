"""
What is a recording of a real release, and how does it lie in its file?

Line 1 is the provenance; then come the tables, in which everything stands once, and a
line for each walk.  `specs/README.md` describes it for other readers.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from attrs import Factory, define, evolve, field, frozen

from swapmodel.actions import Action
from swapmodel.conformance.observation import Observation, Result
from swapmodel.specfiles.actions import action_from_table, table_of
from swapmodel.specfiles.files import shown_path
from swapmodel.specfiles.given import heap_from_given
from swapmodel.specfiles.provenance import AGAIN, Provenance, split
from swapmodel.specfiles.schema import BadInput
from swapmodel.specfiles.write import write_bytes
from swapmodel.specfiles.write_given import given_of
from swapmodel.state.heap import Heap

Seen: TypeAlias = Result | str | None
"""What an action came to, how it ended its process, or that nobody looked."""


@frozen
class Taken:
    """One action of a walk, and what torch showed after it."""

    depth: int
    """How many actions its program has: it goes on from the last one with one less."""

    action: Action
    seen: Seen


@frozen
class Walk:
    """Programs that begin alike: one, or all that begin with one action."""

    part: str
    start: str
    """The id of its start heap."""

    looked: bool
    """Whether the world was looked at before the next action ran, which is a read."""

    taken: tuple[Taken, ...]


@frozen
class Recording:
    """What a real release did."""

    provenance: Provenance
    starts: Mapping[str, Heap] = field(eq=False)
    walks: tuple[Walk, ...]


# -- Writing -------------------------------------------------------------------------


@define
class _Table:
    """Values by number, each of them once."""

    rows: list[Any] = Factory(list)
    numbers: dict[str, int] = Factory(dict)

    def number(self, value: Any) -> int:
        text = _line(value)
        known = self.numbers.get(text)
        if known is None:
            known = self.numbers[text] = len(self.rows)
            self.rows.append(value)
        return known


@define
class _Tables:
    """What walks refer to by number; each table refers to those above it."""

    actions: _Table = Factory(_Table)
    parts: _Table = Factory(_Table)
    observations: _Table = Factory(_Table)
    results: _Table = Factory(_Table)

    def seen(self, seen: Seen) -> int:
        """The number of a result; an action that nobody looked after has none."""
        if seen is None:
            return -1
        if isinstance(seen, str):
            return self.results.number([seen])
        part, then = self.parts.number, seen.then
        others = (then.nodes, then.modules, then.weakrefs, then.flags)
        rows = [part(one) for one in (*others, *then.places)]
        number = self.observations.number(rows)
        told = [seen.kind, part(seen.errors), part(seen.fired), number]
        return self.results.number(told)


def write_recording(path: Path, recording: Recording) -> Provenance:
    """Write a recording, and give its provenance with the hash of the content."""
    tables = _Tables()
    walks = [
        [
            walk.part,
            walk.start,
            walk.looked,
            [
                [one.depth, tables.actions.number(table_of(one.action)), number]
                for one in walk.taken
                for number in (tables.seen(one.seen),)
            ],
        ]
        for walk in recording.walks
    ]
    told: dict[str, object] = {
        "starts": {key: given_of(heap) for key, heap in recording.starts.items()}
    }
    told |= {key: getattr(tables, key).rows for key in _names(_Tables)}
    body = "".join(f"{_line(one)}\n" for one in (told, *walks))
    content = body.encode()
    shown = [one.seen is not None for walk in recording.walks for one in walk.taken]
    digest = sha256(content).hexdigest()
    signed = evolve(recording.provenance, programs=sum(shown), sha256=digest)
    head = f"{_line(attrs.asdict(signed))}\n".encode()
    write_bytes(path, lzma.compress(head + content, preset=9 | lzma.PRESET_EXTREME))
    return signed


def _names(cls: Any) -> list[str]:
    return [one.name for one in attrs.fields(cls)]


def _line(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


# -- Reading -------------------------------------------------------------------------


def read_recording(path: Path) -> Recording:
    """Read a recording; refuses one that was changed after it was written."""
    provenance, content = split(path)
    if sha256(content).hexdigest() != provenance.sha256:
        raise BadInput("not the content that was recorded", shown_path(path), AGAIN)
    tables, *walks = content.decode().splitlines()
    reader = _Reader(json.loads(tables), shown_path(path))
    return Recording(
        provenance,
        reader.starts(),
        tuple(reader.walk(*json.loads(walk)) for walk in walks),
    )


@define
class _Reader:
    """Results by number, each made once."""

    tables: dict[str, Any]
    where: str
    made: dict[int, Seen] = Factory(lambda: {-1: None})
    actions: list[Action] = field(init=False)

    def __attrs_post_init__(self) -> None:
        rows = self.tables["actions"]
        self.actions = [action_from_table(one, self.where) for one in rows]

    def starts(self) -> dict[str, Heap]:
        given = self.tables["starts"].items()
        return {key: heap_from_given(one, self.where) for key, one in given}

    def walk(self, part: str, start: str, looked: bool, taken: list[Any]) -> Walk:
        return Walk(part, start, looked, tuple(self._taken(taken)))

    def _taken(self, taken: list[Any]) -> Iterator[Taken]:
        for depth, action, seen in taken:
            if seen not in self.made:
                self.made[seen] = self._seen(self.tables["results"][seen])
            yield Taken(depth, self.actions[action], self.made[seen])

    def _seen(self, row: list[Any]) -> Seen:
        if len(row) == 1:
            return str(row[0])
        kind, errors, fired, number = row
        rows = [self._part(one) for one in self.tables["observations"][number]]
        nodes, modules, weakrefs, flags, *places = rows
        then = Observation(tuple(places), nodes, modules, weakrefs, flags)
        return Result(kind, self._part(errors), self._part(fired), then)

    def _part(self, number: int) -> Any:
        part = self.tables["parts"][number]
        if isinstance(part, list):
            part = self.tables["parts"][number] = tuples(part)
        return part


def tuples(value: Any) -> Any:
    """What JSON gives as lists, as tuples."""
    return tuple([tuples(one) for one in value]) if isinstance(value, list) else value
