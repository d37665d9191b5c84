"""
How does an explanation read in the thread of a pull request?
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.report.diagram import diagram
from swapmodel.report.explain import Explanation
from swapmodel.report.text import but_lines, happened_lines, title
from swapmodel.run import Counterexample, run
from swapmodel.semantics.spec import Spec


def render_markdown(one: Explanation, pictures: tuple[str, str] | None = None) -> str:
    """A counterexample as Markdown, with the heap before and after as pictures."""
    lines = [f"### {title(one)}", ""]
    lines += _block("python", _program(one))
    lines += ["", f"**Promised** at `{one.place}` ({one.kind}): {one.was}", ""]
    lines += [f"**Found**: {one.now}, since the phase `{one.phase}`", ""]
    lines += ["<details><summary>Phase by phase</summary>", ""]
    steps = [line for told in one.then for line in happened_lines(told)]
    lines += [*_block("text", [*steps, "", *but_lines(one)]), "", "</details>", ""]
    if pictures is not None:
        for name, picture in zip(("before", "after"), pictures, strict=True):
            lines += [f"Objects around `{one.place}` {name} the last action:", ""]
            lines += [*_block("mermaid", picture.splitlines()), ""]
    lines.append(f"Replay: `{one.replay}`")
    return "\n".join(lines) + "\n"


def pictures_of(one: Counterexample, spec: Spec) -> tuple[str, str]:
    """The objects around the violated place before and after the breaking action."""
    heaps = run(one.heap, one.program, spec).heaps
    place = one.violation.place
    return diagram(heaps[len(one.program) - 1], place), diagram(heaps[-1], place)


def _program(one: Explanation) -> Iterator[str]:
    yield from one.let
    yield ""
    for told in one.then:
        note = ""
        if told.refusals:
            note = f"  # refused: {', after '.join(r.rule for r in told.refusals)}"
        elif told.why:
            note = f"  # {told.outcome}: {told.why}"
        elif told.probe and told.fired:
            note = f"  # hooks fired: {', '.join(told.fired)}"
        yield told.code + note


def _block(language: str, lines: Iterator[str] | list[str]) -> list[str]:
    return [f"```{language}", *lines, "```"]
