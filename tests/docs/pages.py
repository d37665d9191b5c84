"""What a page of the documentation holds: Python, commands with output, links."""

import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from tests.meta import tree

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)


@frozen
class Shown:
    """A command as a page shows it, with what it prints there."""

    command: str
    output: str


def pages() -> list[Path]:
    """Every page in Markdown that is in git or would be if all were added."""
    return [path for path in tree.files_in_git() if path.suffix == ".md"]


def named(path: Path) -> str:
    """A page's name for people: its path from the top."""
    return str(path.relative_to(tree.ROOT))


def python_of(text: str) -> str:
    """The Python of a page, every line on the number it has there."""
    kept = []
    position = 0
    for found in FENCE.finditer(text):
        kept.append("\n" * text.count("\n", position, found.start(2)))
        inside = found[2]
        kept.append(inside if found[1] == "python" else "\n" * inside.count("\n"))
        position = found.end(2)
    return "".join(kept)


def shown(text: str) -> Iterator[Shown]:
    """Each command of the `console` blocks; it starts with `$ ` at a line's start."""
    for found in FENCE.finditer(text):
        if found[1] == "console":
            for one in re.split(r"^\$ ", found[2], flags=re.M)[1:]:
                command, _, output = one.partition("\n")
                yield Shown(command, output)


def links(text: str) -> Iterator[str]:
    """Where the links of a page lead that stay in the project."""
    for found in LINK.finditer(CODE.sub("", text)):
        if "://" not in found[1] and not found[1].startswith("mailto:"):
            yield found[1]


def anchors(text: str) -> set[str]:
    """The names of a page's headings, as links spell them."""
    return {_slug(found[1]) for found in HEADING.finditer(_without_blocks(text))}


def _without_blocks(text: str) -> str:
    return FENCE.sub("", text)


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def dangling(page: Path, text: str) -> Iterator[str]:
    """Report links of *page* that lead to no file or to no heading of it."""
    for link in links(text):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists():
            yield f"{named(page)} links to {link}, which is not there"
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f"{named(page)} links to {link}, which has no such heading"
