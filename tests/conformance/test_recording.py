"""A recording is written and read again, and nothing else is taken for one."""

import json
import lzma
from pathlib import Path

import pytest
from attrs import evolve

from swapmodel.actions import (
    Backward,
    Cast,
    Convert,
    Forward,
    RegisterHook,
    SetGrad,
    SwapTensors,
    TakeWeakref,
)
from swapmodel.conformance.recording import (
    Recording,
    Taken,
    Walk,
    read_recording,
    write_recording,
)
from swapmodel.specfiles.provenance import SUFFIX, read_provenance
from swapmodel.specfiles.schema import BadInput
from tests.conformance.made import filled, recording_of, walk_of
from tests.heaps import NEW, module, spec

TRAINED = (
    Forward("square", "m.weight", "y"),
    RegisterHook("m.weight", "h"),
    TakeWeakref("guard", "m.weight", "r"),
    SetGrad("m.weight", "m.weight"),
    Backward("y"),
    Convert("m", Cast("float64")),
)


def trained() -> Recording:
    """A recording with refusals, hooks, weak references, a graph, and ends."""
    start = module()
    swap, cast = SwapTensors("p", "t"), Convert("m", Cast("float64"))
    branches = (Taken(1, swap, "?"), Taken(2, cast, "?"), Taken(1, swap, None))
    walks = [
        filled(walk_of(TRAINED), start, spec(NEW)),
        filled(Walk("exhaustive", "here", False, branches), start, spec(NEW)),
        Walk("random", "here", True, (Taken(1, swap, "died"),)),
    ]
    return recording_of(start, walks)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Start heaps, walks and everything that was seen come back equal."""
    path, written = tmp_path / f"one{SUFFIX}", trained()
    provenance = write_recording(path, written)
    read = read_recording(path)

    assert read.walks == written.walks
    assert dict(read.starts) == {"here": module()}
    assert read.provenance == provenance == read_provenance(path)
    assert evolve(provenance, sha256="", programs=0) == written.provenance
    assert provenance.programs == 9
    assert read.provenance.left_out == {"a reason": 2}
    assert len(provenance.sha256) == 64


def test_nothing_is_written_twice(tmp_path: Path) -> None:
    """Actions, rows and results stand in tables; a walk holds numbers."""
    path, one = tmp_path / f"one{SUFFIX}", trained()
    write_recording(path, evolve(one, walks=one.walks * 50))
    _, tables, *walks = lzma.decompress(path.read_bytes()).decode().splitlines()
    told = json.loads(tables)

    assert [*told] == ["starts", "actions", "parts", "observations", "results"]
    for name in ("actions", "parts", "observations", "results"):
        rows = [json.dumps(row) for row in told[name]]
        assert len(rows) == len(set(rows))
    assert len(set(walks)) == 3
    assert len(walks) == 150


def changed(path: Path, text: bytes) -> Path:
    """The file, with another text where it is decompressed."""
    path.write_bytes(lzma.compress(text))
    return path


def refused(path: Path) -> str:
    """What is said of a file that is no recording."""
    with pytest.raises(BadInput) as error:
        read_recording(path)
    return str(error.value)


def test_what_is_no_recording(tmp_path: Path) -> None:
    """Each has its line: another content, another format, no recording, no file."""
    path = tmp_path / f"one{SUFFIX}"
    write_recording(path, trained())
    text = lzma.decompress(path.read_bytes())
    other = text.replace(b'"float64"', b'"float16"')

    assert other != text
    assert "not the content that was recorded" in refused(changed(path, other))
    assert "format 2, not 1" in refused(changed(path, text.replace(b":1,", b":2,", 1)))
    assert "no recording @" in refused(changed(path, b"{}\n"))
    path.write_bytes(b"text")
    assert "nothing that can be decompressed" in refused(path)
    assert "nothing that can be decompressed" in refused(tmp_path / "gone")
