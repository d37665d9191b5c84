"""
What is written down of an agreement: `docs/agreement.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from swapmodel.live.agree import CASES, OPERATIONS, Tally

HEAD = """\
# Agreement on the modules and tensors by which torch is tested

Written by `swapmodel agree --write` on torch {torch}, under the spec `{spec}`.

Each instance is made, given an optimizer, read into a heap and converted, there and \
in torch, in {ways} ways: by each method, with no flag on, with that for swapping or \
that for overwriting, without gradients, and with them and a state of the optimizer.
It agrees if the outcome is the one that was predicted, and so is the text of a \
refusal, and of every parameter, buffer, gradient and tensor of the optimizer the \
path, whether it is the same object over the same impl and storage, and all else \
that `swapmodel conform` compares; contents are those from before, rounded by the \
cast.
[Decision 18](decisions/0018-how-a-live-module-is-read.md) says how a module is \
read, and what is declined.
"""


def render_agreement(
    tables: Sequence[tuple[str, Sequence[Tally]]], torch: str, spec: str
) -> str:
    """Write down what came of every class, under a title for each table."""
    found = [tally for _, tallies in tables for tally in tallies]
    lines = [HEAD.format(torch=torch, spec=spec, ways=len(CASES)), summary(found), ""]
    for title, tallies in tables:
        lines += [f"## {title}", "", *_table(tallies), ""]
    lines += [*_declined(found), *_refused(found)]
    return "\n".join(lines).rstrip() + "\n"


def summary(found: Sequence[Tally]) -> str:
    """The numbers in one line."""
    instances = sum(one.instances for one in found)
    agreed = sum(one.agreed.total() for one in found)
    declined = sum(one.declined.total() for one in found)
    disagreed = sum(one.disagreed for one in found)
    return (
        f"{len(found)} classes, {instances} instances, {agreed + declined + disagreed} "
        f"conversions: {agreed} agree, {declined} declined, {disagreed} disagree"
    )


def _table(found: Sequence[Tally]) -> Iterator[str]:
    operations = [f"`{one}`" for one in OPERATIONS]
    yield _row(["class", "instances", *operations, "declined", "disagreeing"])
    yield _row(["---", *["---:"] * (len(operations) + 3)])
    for one in found:
        agreed = [str(one.agreed[name]) for name in OPERATIONS]
        ended = [str(one.declined.total() or ""), str(one.disagreed or "")]
        yield _row([f"`{one.kind}`", str(one.instances), *agreed, *ended])


def _declined(found: Sequence[Tally]) -> Iterator[str]:
    reasons = Counter[tuple[str, str, str]]()
    for one in found:
        for (operation, why), count in one.declined.items():
            reasons[why, one.kind, operation] += count
    if reasons:
        yield from ("## Declined", "")
        yield _row(["reason", "class", "operation", "conversions"])
        yield _row(["---", "---", "---", "---:"])
        for (why, kind, operation), count in sorted(reasons.items()):
            yield _row([why, f"`{kind}`", f"`{operation}`", str(count)])
        yield ""


def _refused(found: Sequence[Tally]) -> Iterator[str]:
    rules = Counter[tuple[str, str]]()
    for one in found:
        for rule, count in one.refused.items():
            rules[rule, one.kind] += count
    if rules:
        yield from ("## Refused by torch, as predicted", "")
        yield _row(["rule", "class", "conversions"])
        yield _row(["---", "---", "---:"])
        for (rule, kind), count in sorted(rules.items()):
            yield _row([f"`{rule}`", f"`{kind}`", str(count)])
        yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
