"""
Which claims compare the heap after an action with the heap before it?
"""

from __future__ import annotations

from collections.abc import Iterator

from swapmodel.actions import CastData, Convert, SetData, SwapTensors
from swapmodel.invariants.of_heaps import content, incoherent, told
from swapmodel.invariants.of_modules import registered
from swapmodel.invariants.violation import Step, Violation
from swapmodel.outcomes import Done, Refused
from swapmodel.semantics import (
    modules,
    ownership,
    payloads,
    places,
    tensors,
)
from swapmodel.semantics.payloads import Payload
from swapmodel.semantics.promised import promised as promised_of
from swapmodel.state.heap import Heap
from swapmodel.state.ids import ImplId, ModuleId, TensorId

CONTENT = (Convert, SwapTensors, SetData, CastData)
"""The actions that give tensors other content."""


# -- Values --------------------------------------------------------------------------


def values(step: Step) -> Iterator[Violation]:
    """
    Every value, inner ones included, is what the operation promises of the old.

    Nothing is promised of a wrapper that was incoherent before.
    """
    if not isinstance(step.outcome, Done):
        return
    broken = {one.place for one in incoherent(step.before)}
    for place, kind, promised in _promises(step):
        now = step.placed_then.get(place)
        if now is None or place in broken:
            continue
        there = content(step.then, now)
        # [invariant/values]
        if there != promised:
            yield Violation(
                "values", place, kind, step.path(place), told(promised), told(there)
            )


def _promises(step: Step) -> Iterator[tuple[str, places.PlaceKind, Payload]]:
    """Yield what each place that the action is about has to hold afterwards."""
    before, action = step.before, step.action
    match action:
        case Convert(_, fn):
            for place, kind, t in registered(step):
                old = content(before, t)
                if old is not None and kind != "inner":
                    parameter = tensors.is_parameter(before, t)
                    new = promised_of(fn, old, parameter=parameter)
                    if new is not None:
                        yield place, kind, new
        case SwapTensors(t1, t2):
            yield from _promised(step, t1, t2)
            yield from _promised(step, t2, t1)
        case SetData(t, u):
            yield from _promised(step, t, u)
        case CastData(place, dtype):
            for one, kind, old in _promised(step, place, place):
                yield one, kind, payloads.cast(old, dtype)


def _promised(
    step: Step, target: str, source: str
) -> Iterator[tuple[str, places.PlaceKind, Payload]]:
    one, other = step.operand(target), step.operand(source)
    assert one is not None
    assert other is not None
    old = content(step.before, other[2])
    if old is not None:
        yield one[0], one[1], old


# -- Atomicity -----------------------------------------------------------------------


def atomic_tensor(step: Step) -> Iterator[Violation]:
    """A refused operation on tensors leaves each of them as it was."""
    if not isinstance(step.outcome, Refused):
        return
    for place, kind, t in _refused_operands(step):
        was, now = _whole(step.before, t), _whole(step.then, t)
        for what, old in was.items():
            # [invariant/atomic-tensor]
            if now[what] != old:
                yield Violation(
                    "atomic-tensor",
                    place,
                    kind,
                    step.path(place),
                    f"{what} of {place} is {old}",
                    f"{now[what]}",
                )


def _refused_operands(step: Step) -> Iterator[places.Placement]:
    """Yield the tensors of the operation that was refused, where they stood."""
    action = step.action
    if isinstance(action, Convert):
        reached = [one.tensor for one in step.converted]
        wanted = [t for t in reached[-1:] if reached.count(t) == 1]
    else:
        fields = [getattr(action, name, "") for name in ("t", "u", "t1", "t2")]
        wanted = [found[2] for one in fields if (found := step.operand(one))]
    for place, kind, t in step.placed_before:
        if t in wanted and step.then.tensors[t] is not None:
            yield place, kind, t
            wanted = [one for one in wanted if one != t]


def _whole(heap: Heap, t: TensorId) -> dict[str, object]:
    """Everything of one tensor that a refused operation must leave alone."""
    tensor, impl = heap.tensor(t), heap.impl_of(t)
    meta = heap.meta_of(t)
    return {
        "class": tensor.cls,
        "attributes": dict(tensor.attributes),
        "slots": dict(tensor.slots),
        "inner tensors": [name for name, _ in tensor.inner],
        "content": told(content(heap, t)),
        "dtype": impl.dtype,
        "requires_grad": meta.requires_grad,
    }


def atomic_module(step: Step) -> Iterator[Violation]:
    """
    A refused conversion leaves the module as it was.

    And what an `RNNBase` lists a second time is what it lists first, as before.
    """
    if not (isinstance(step.action, Convert) and isinstance(step.outcome, Refused)):
        return
    for place, kind, t in registered(step):
        if kind == "inner":
            continue
        now = step.placed_then.get(place)
        was = _whole(step.before, t)
        there = {"object": "none"} if now is None else _whole(step.then, now)
        for what, old in was.items():
            # [invariant/atomic-module]
            if there.get(what) != old:
                yield Violation(
                    "atomic-module",
                    place,
                    kind,
                    step.path(place),
                    f"{what} of {place} is {old}",
                    f"{there.get(what, 'gone')}",
                )
                break
    yield from _flat_weights(step)


def _flat_weights(step: Step) -> Iterator[Violation]:
    for place, m in places.modules(step.before):
        was, now = (_listed_twice(heap, m) for heap in (step.before, step.then))
        for number, (name, there) in enumerate(zip(was, now, strict=True)):
            if name and name != there:
                where = f"{place}._flat_weights[{number}]"
                path = step.path(f"{place}.{name}")
                promised = f"{where} is {place}.{name}"
                yield Violation(
                    "atomic-module",
                    where,
                    "parameter",
                    path,
                    promised,
                    "another tensor",
                )


def _listed_twice(heap: Heap, m: ModuleId) -> Iterator[str]:
    """The name of each flat weight that is the one registered, or nothing."""
    module = heap.module(m)
    names = module.flat_weights_names
    registered = modules.flat_weights(heap, module)
    for name, t, listed in zip(names, registered, module.flat_weights, strict=True):
        yield name if t == listed else ""


# -- Use counts ----------------------------------------------------------------------

LISTED = {
    "swap/few-owners": (("python object",), ("AccumulateGrad", "python object")),
    "swap/one-owner": (("python object",),),
}
"""The sets of owners that each rule about use counts lets pass."""


def use_count(step: Step) -> Iterator[Violation]:
    """
    Owners move with their impl, and no others appear.

    And a check of the use count refuses exactly the owners that its rule names.
    """
    if not isinstance(step.action, SwapTensors):
        return
    for operand in ("t1", "t2"):
        found = step.operand(getattr(step.action, operand))
        if found is None:
            continue
        place, kind, t = found
        i = step.before.tensor(t).impl
        was = _owner_kinds(step.before, i)
        now = _owner_kinds(step.then, i) if step.then.impls[i] is not None else was
        # [invariant/use-count]
        if now != was:
            yield Violation(
                "use-count", place, kind, "direct", f"owners {was}", f"owners {now}"
            )
        allowed = LISTED.get(_rule_about(step, operand))
        if allowed is not None and was in allowed:
            yield Violation(
                "use-count", place, kind, "direct", f"{was} are let pass", "refused"
            )


def _owner_kinds(heap: Heap, i: ImplId) -> tuple[str, ...]:
    return tuple(sorted(kind for kind, _ in ownership.owners(heap, i)))


def _rule_about(step: Step, operand: str) -> str:
    if isinstance(step.outcome, Refused) and step.outcome.refusal.operand == operand:
        return step.outcome.rule
    return ""
