"""
How does an explanation read in a terminal?  Let, Then, But, Replay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swapmodel.report.changes import Change
from swapmodel.report.explain import Explanation, Happened, Phase

LABEL = 7
INDENT = " " * LABEL


def render_explanation(one: Explanation) -> str:
    """A counterexample as text."""
    lines = [title(one), ""]
    lines += _labelled("Let", one.let)
    lines.append("")
    steps = [line for told in one.then for line in happened_lines(told)]
    lines += _labelled("Then", steps)
    lines.append("")
    lines += _labelled("But", but_lines(one))
    lines.append("")
    lines += _labelled("Replay", [one.replay])
    return "\n".join(lines) + "\n"


def render_program(
    let: Sequence[str], then: Sequence[Happened], *, every_phase: bool = True
) -> str:
    """A program as text, with every phase unless only those that changed something."""
    lines = _labelled("Let", let)
    lines.append("")
    steps = [
        line for told in then for line in happened_lines(told, every_phase=every_phase)
    ]
    lines += _labelled("Then", steps)
    return "\n".join(lines) + "\n"


def title(one: Explanation) -> str:
    """What is false, where, and that no shorter program shows it."""
    steps = sum(not told.probe for told in one.then)
    told = "1 step" if steps == 1 else f"{steps} steps"
    return (
        f"{one.invariant} is false in {one.spec}, path {one.path}: "
        f"{told}, none shorter exists in scope {one.scope}"
    )


def but_lines(one: Explanation) -> list[str]:
    """What was promised, what is there, and since which phase."""
    return [
        f"{one.place} ({one.kind})",
        f"promised  {one.was}",
        f"found     {one.now}",
        f"since     [{one.phase}]",
    ]


# -- One action --------------------------------------------------------------------


def happened_lines(told: Happened, *, every_phase: bool = False) -> list[str]:
    """One action: its code, what it came to, what each phase changed."""
    mark = "probe: " if told.probe else ""
    lines = [f"{told.number}. {mark}{told.code}"]
    lines += [f"   {line}" for line in _outcome_lines(told)]
    lines += [f"   {line}" for line in _phase_lines(told, every_phase)]
    return lines


def _outcome_lines(told: Happened) -> Iterator[str]:
    for place, path in told.paths:
        yield f"{place} takes the path {path}"
    if told.fired:
        yield f"hooks fired: {', '.join(told.fired)}"
    for link in told.refusals:
        operand = f", operand {link.operand}" if link.operand else ""
        yield f"refused by [{link.rule}]{operand}"
        if link.text:
            yield f"  {link.text!r}"
    if told.owners:
        yield f"{told.refused_for} is owned by"
        yield from (f"  - {one}" for one in told.owners)
    if told.why:
        yield f"{told.outcome}: {told.why}"


def _phase_lines(told: Happened, every_phase: bool) -> Iterator[str]:
    shown = [one for one in told.phases if one.changes or every_phase]
    if not shown:
        shown = [Phase("", told.changes)] if told.changes else []
    width = max(
        (len(change.about) for one in shown for change in one.changes), default=0
    )
    for one in shown:
        if one.id:
            yield f"[{one.id}]"
        for change in one.changes:
            yield "  " + change_line(change, width)


def change_line(change: Change, width: int = 0) -> str:
    """One difference: what was asked, the old answer, the new one."""
    about = change.about.ljust(width)
    if not change.was:
        return f"{about}  new: {change.now}"
    if not change.now:
        return f"{about}  gone, was {change.was}"
    return f"{about}  {change.was} -> {change.now}"


def _labelled(label: str, lines: Sequence[str]) -> list[str]:
    first, *rest = lines or ("nothing",)
    return [label.ljust(LABEL) + first, *(INDENT + line for line in rest)]
