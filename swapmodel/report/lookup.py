"""
What is there to tell of one rule, one invariant, one spec, or of two of them?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import ndiff
from textwrap import wrap
from typing import TypeVar

from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.claims import known_causes
from swapmodel.specfiles.read import load_spec, release_ids, spec_ids
from swapmodel.specfiles.rules import Claim, Rule

R = TypeVar("R")

WIDTH = 80


def rule_lines(rule: Rule) -> Iterator[str]:
    """Tell a rule: what it refuses, how it is known, its text on each release."""
    yield from _paragraph(rule.id, rule.statement)
    yield ""
    yield from _labelled("in torch", rule.symbol)
    yield from _labelled("raises", ", ".join(rule.raises) or "nothing")
    yield from _labelled("evidence", rule.evidence)
    if rule.source:
        yield from _labelled("source", rule.source)
    if rule.prs:
        pulls = ", ".join(f"pytorch#{number}" for number in rule.prs)
        yield from _labelled("since", pulls)
    texts = {one: dict(load_spec(one).messages).get(rule.id, "") for one in spec_ids()}
    for text, specs in _grouped(texts):
        if text:
            yield ""
            yield f"text under {specs}"
            yield f"    {text!r}"


def invariant_lines(claim: Claim) -> Iterator[str]:
    """Tell an invariant: what it claims, why, and where it is known to be broken."""
    yield from _paragraph(claim.id, claim.statement)
    yield ""
    yield from wrap(claim.why, WIDTH)
    known = [one for one in known_causes() if one.cause.invariant == claim.id]
    yield ""
    if not known:
        yield "no scope breaks it under any release"
        return
    yield "broken"
    for one in known:
        cause = one.cause
        span = _span(one.specs)
        yield f"    {span}: path {cause.path}, {cause.kind}, since [{cause.phase}]"
        yield f"        specs/scenarios/{one.scenario}"


def spec_lines(spec: Spec) -> Iterator[str]:
    """Tell a spec: its releases, its phases, its choices, its `except` clauses."""
    yield from _paragraph(spec.id, spec.statement)
    yield ""
    if spec.base is not None:
        yield from _labelled("extends", spec.base)
    if spec.measured:
        yield from _labelled("measured", ", ".join(spec.measured))
    if spec.placed:
        yield from _labelled("placed", ", ".join(spec.placed))
    for title, entries in _tables(spec).items():
        yield ""
        yield title
        for name, lines in entries.items():
            yield f"    {name}"
            yield from (f"        {line}" for line in lines)


def difference_lines(one: Spec, other: Spec) -> Iterator[str]:
    """
    Tell what of *one* differs from *other*: phases, choices, clauses, texts.

    A line of *one* alone is marked `+`, a line of *other* alone `-`.
    """
    yield f"{one.id} against {other.id}"
    tables, others = _tables(one, texts=True), _tables(other, texts=True)
    same = True
    for title, entries in tables.items():
        before = others[title]
        for name in {**before, **entries}:
            old, new = before.get(name, ()), entries.get(name, ())
            if old == new:
                continue
            same = False
            yield ""
            yield f"{title} {name}"
            for line in ndiff([*old], [*new]):
                if not line.startswith("?"):
                    yield f"    {line}".rstrip()
    if same:
        yield "no difference"


# -- How it is laid out ------------------------------------------------------------


def _tables(
    spec: Spec, *, texts: bool = False
) -> dict[str, dict[str, tuple[str, ...]]]:
    """What a spec says, by table and entry, a line for each phase or row."""
    choices = {
        name: tuple(
            f"{row.path} if {' and '.join(row.predicates)}"
            if row.predicates
            else row.path
            for row in rows
        )
        for name, rows in spec.choices
    }
    found = {
        "operations": dict(spec.operations),
        "when refused": dict(spec.refused),
        "choices": choices,
    }
    if texts:
        found["text of"] = {name: (text,) for name, text in spec.messages}
    return found


def _paragraph(head: str, text: str) -> Iterator[str]:
    yield head
    yield from wrap(text, WIDTH)


def _labelled(label: str, text: str) -> Iterator[str]:
    yield f"{label:<10}{text}"


def _grouped(by_spec: Mapping[str, R]) -> Iterator[tuple[R, str]]:
    for value in dict.fromkeys(by_spec.values()):
        yield value, _span([name for name, one in by_spec.items() if one == value])


def _span(specs: Sequence[str]) -> str:
    """The names of specs; neighbouring releases as a range."""
    ids = release_ids()
    listed = [one for one in ids if one in specs]
    rest = [one for one in specs if one not in ids]
    if len(listed) < 3 or ids.index(listed[-1]) - ids.index(listed[0]) >= len(listed):
        return ", ".join([*listed, *rest])
    return ", ".join([f"{listed[0]} to {listed[-1]}", *rest])
