"""
Which write does nobody see, and which memory is not there?
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.actions import Forward
from swapmodel.invariants.of_heaps import content, told
from swapmodel.invariants.probes import OUTPUT, probe
from swapmodel.invariants.violation import Step, Violation, placed, remembered
from swapmodel.outcomes import Undefined
from swapmodel.semantics.places import Placement
from swapmodel.state.heap import Heap, living
from swapmodel.state.ids import StorageId, TensorId

# -- Writes --------------------------------------------------------------------------


def version(step: Step) -> Iterator[Violation]:
    """A write that somebody can read is a write that the version counter shows."""
    written = _written(step.before, step.then)
    if not written:
        return
    for place, kind, t in step.placed_before:
        if step.placed_then.get(place) != t or not _same_memory(step, t):
            continue
        i = step.then.tensor(t).impl
        counter = step.then.impl(i).counter
        if step.before.impl(i).counter != counter or (
            step.before.version(counter) != step.then.version(counter)
        ):
            continue
        was, now = content(step.before, t), content(step.then, t)
        # [invariant/version]
        if was != now:
            yield Violation(
                "version",
                place,
                kind,
                step.path(place),
                f"{place} holds {told(was)} as long as its version is the same",
                told(now),
            )


def _written(before: Heap, then: Heap) -> set[StorageId]:
    """The storages that hold other values."""
    if before.storages == then.storages:
        return set()
    return {
        StorageId(s)
        for s, now in living(then.storages)
        if s < len(before.storages) and before.storages[s] not in (None, now)
    }


def _same_memory(step: Step, t: TensorId) -> bool:
    """Whether a tensor and all inside it stand for the memory that they stood for."""
    ahead, seen = [t], set[TensorId]()
    while ahead:
        one = ahead.pop()
        if one in seen:
            continue
        seen.add(one)
        before, then = step.before.tensor(one), step.then.tensor(one)
        if before.impl != then.impl or before.inner != then.inner:
            return False
        was, now = step.before.impl_of(one), step.then.impl_of(one)
        if was.storage != now.storage or was.offset != now.offset:
            return False
        ahead += [inner for _, inner in then.inner]
    return True


# -- Reads ---------------------------------------------------------------------------


def memory_safe(step: Step) -> Iterator[Violation]:
    """
    No program reads memory that is not there.

    Asked by a probe: a forward through every plain tensor without a storage that had
    one, and that was not made of one without.
    """
    known = {step.before.tensor(t).impl for _, _, t in without_memory(step.before)}
    about = {step.before.tensor(t).impl for _, _, t in step.operands()}
    for place, kind, t in without_memory(step.then):
        if known & {step.then.tensor(t).impl, *about}:
            continue
        program = (Forward("scale", place, OUTPUT),)
        probed = probe(step.then, program, step.spec)
        # [invariant/memory-safe]
        if isinstance(probed.outcome, Undefined):
            promised = f"a forward through {place} reads memory"
            path, told = step.path(place), "there is none"
            yield Violation("memory-safe", place, kind, path, promised, told, program)
    if isinstance(step.outcome, Undefined) and not without_memory(step.then):
        place, kind, _ = next(step.operands(), ("", "variable", None))
        promised = "the action reads memory that is there"
        path, told = step.path(place), step.outcome.why
        yield Violation("memory-safe", place, kind, path, promised, told)


@remembered
def without_memory(heap: Heap) -> tuple[Placement, ...]:
    """Where a tensor over a null storage stands that nothing intercepts."""
    if all(
        impl.python_key or impl.storage is not None for _, impl in living(heap.impls)
    ):
        return ()
    return tuple(
        (place, kind, t)
        for place, kind, t in placed(heap)
        if heap.impl_of(t).storage is None and not heap.impl_of(t).python_key
    )
