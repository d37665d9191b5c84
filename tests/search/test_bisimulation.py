"""
Heaps with one key have one future: the licence of everything that a key leaves out.
"""

from collections.abc import Iterator

import pytest

from swapmodel.actions import Action
from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.invariants.violation import Step
from swapmodel.outcomes import Outcome, OutOfScope, Refused, Undefined
from swapmodel.search.canonical import canonical
from swapmodel.search.enabled import enabled
from swapmodel.semantics.places import placements
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.events import Converted
from swapmodel.state.heap import COLUMNS, Heap
from tests.search.starts import SMALL, TRIED, spec

DEPTH = 3
PAIRS = 120
"""How many pairs of one start heap are compared, evenly chosen from all of them."""


def pairs(start: Heap, one: Spec) -> list[tuple[Heap, Heap]]:
    """Every pair of a heap with the first heap that has its key, if they differ."""
    first = {canonical(start): start}
    frontier, found = [start], []
    for _ in range(DEPTH):
        behind = []
        for heap in frontier:
            for action in enabled(heap, TRIED):
                outcome = step(heap, action, one)
                if isinstance(outcome, OutOfScope | Undefined):
                    continue
                known = first.setdefault(canonical(outcome.heap), outcome.heap)
                if known is outcome.heap:
                    behind.append(known)
                elif known != outcome.heap:
                    found.append((known, outcome.heap))
        frontier = behind
    return found[:: max(1, len(found) // PAIRS)]


def seen(before: Heap, action: Action, outcome: Outcome, one: Spec) -> Iterator[object]:
    """Everything that a step shows, positions spelled as places."""
    yield type(outcome)
    if isinstance(outcome, OutOfScope):
        yield outcome.why
        return
    yield outcome.refusal if isinstance(outcome, Refused) else None
    yield outcome.why if isinstance(outcome, Undefined) else canonical(outcome.heap)
    for event in outcome.events:
        if isinstance(event, Converted):
            places = [p for p, _, t in placements(before) if t == event.tensor]
            yield places, event.role, event.path
        else:
            yield event
    for invariant in INVARIANTS:
        for v in invariant.check(Step(before, action, outcome, one)):
            yield v.invariant, v.place, v.kind, v.path, v.probe


@pytest.mark.parametrize("release", ["torch-2.1", "torch-2.3", "torch-2.4"])
@pytest.mark.parametrize(("name", "start"), SMALL, ids=[name for name, _ in SMALL])
def test_equal_keys_have_equal_futures(release: str, name: str, start: Heap) -> None:
    """Every action does the same to two heaps with one key, as far as anyone sees."""
    one = spec(release)
    found = pairs(start, one)
    assert len(found) > 50

    for left, right in found:
        actions = list(enabled(left, TRIED))
        assert actions == list(enabled(right, TRIED))
        for action in actions:
            shown = [
                list(seen(heap, action, step(heap, action, one), one))
                for heap in (left, right)
            ]
            assert shown[0] == shown[1], action


def test_pairs_differ_in_more_than_positions() -> None:
    """The pairs hold heaps with other histories: released positions, other counters."""
    found = pairs(SMALL[0][1], spec("torch-2.4"))
    sizes = {
        tuple(len(getattr(heap, column)) for column in COLUMNS) for _, heap in found
    }
    counted = [(a, b) for a, b in found if set(a.counters) != set(b.counters)]

    assert len(sizes) > 10
    assert counted
