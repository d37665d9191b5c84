"""
Which recordings of real releases are there, and where does each come from?
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from swapmodel.specfiles.files import shown_path, specs_folder
from swapmodel.specfiles.schema import BadInput

FORMAT = 1
SUFFIX = ".jsonl.xz"

AGAIN = "record it again"
"""What to do with a file that cannot be read."""


@frozen(kw_only=True)
class Provenance:
    """Where a recording comes from."""

    format: int = FORMAT
    torch: str
    """The release, which finds the spec."""

    build: str
    """`torch.__version__`."""

    git: str
    """`torch.version.git_version`."""

    python: str
    platform: str
    date: str
    device: str
    """`cpu`, or the name of the device that programs use beside it."""

    unseen: tuple[str, ...]
    """The columns of a row that this release cannot show."""

    left_out: Mapping[str, int] = field(eq=False)
    """How many programs were not recorded, by reason."""

    programs: int = 0
    """After how many programs torch was looked at, or died."""

    sha256: str = ""
    """Of everything behind the first line."""


def recordings() -> tuple[Path, ...]:
    """The recordings that come with swapmodel, oldest release first."""
    found = (specs_folder() / "recordings").glob(f"*{SUFFIX}")
    return tuple(sorted(found, key=_release))


def _release(path: Path) -> tuple[int, ...]:
    number = path.name.removesuffix(SUFFIX).removeprefix("torch-").partition("-")[0]
    return tuple([int(part) for part in number.split(".")])


def read_provenance(path: Path) -> Provenance:
    """Read where a recording comes from, and nothing else of it."""
    return split(path)[0]


def split(path: Path) -> tuple[Provenance, bytes]:
    """Read a recording as its provenance and the content behind it."""
    try:
        head, _, content = lzma.decompress(path.read_bytes()).partition(b"\n")
    except (OSError, lzma.LZMAError):
        what = "no recording: nothing that can be decompressed"
        raise BadInput(what, shown_path(path), AGAIN) from None
    if not head.startswith(b'{"format":'):
        raise BadInput("no recording", shown_path(path), AGAIN)
    told: Any = json.loads(head)
    if told["format"] != FORMAT:
        what = f"a recording of format {told['format']}, not {FORMAT}"
        raise BadInput(what, shown_path(path), AGAIN)
    return Provenance(**{**told, "unseen": tuple(told["unseen"])}), content
