"""
Who owns a tensor?  A refusal of a use count names them, not a number.
"""

from __future__ import annotations

from swapmodel.actions import Action, Convert, operands
from swapmodel.outcomes import Refusal
from swapmodel.report.questions import nodes_behind
from swapmodel.semantics import ownership, places
from swapmodel.semantics.ownership import Owner
from swapmodel.state.heap import Heap
from swapmodel.state.ids import ImplId, NodeId, TensorId


def owners(heap: Heap, t: TensorId) -> tuple[str, ...]:
    """Every owner of the impl of *t*, in words."""
    return tuple(
        _named(heap, one) for one in ownership.owners(heap, heap.tensor(t).impl)
    )


def owners_of_refused(
    heap: Heap, action: Action, refusal: Refusal
) -> tuple[str, tuple[str, ...]] | None:
    """The tensor whose use count was refused, with its owners at that moment."""
    count = dict(refusal.facts).get("count")
    if not refusal.rule.endswith("-owners") and not refusal.rule.endswith("-owner"):
        return None
    for place, t in _candidates(heap, action, refusal):
        found = owners(heap, t)
        if len(found) == count:
            return place, found
    return None


def _candidates(
    heap: Heap, action: Action, refusal: Refusal
) -> list[tuple[str, TensorId]]:
    """The tensors that an operand of a refusal can mean, likeliest first."""
    standing = list(places.places(heap))
    if not isinstance(action, Convert):
        named = getattr(action, refusal.operand, None)
        wanted = [getattr(action, name) for name, _ in operands(type(action))]
        return [one for one in standing if one[0] == named] or [
            one for one in standing if one[0] in wanted
        ]
    outer = next((dict(one.facts) for one in reversed(refusal.within)), {})
    key = f".{outer.get('key', '')}"
    ends = (key, f"{key}.grad")
    return [one for one in standing if one[0].endswith(ends)]


def _named(heap: Heap, owner: Owner) -> str:
    kind, position = owner
    match kind:
        case "python object":
            return "its Python object"
        case "AccumulateGrad":
            return f"its AccumulateGrad node{_kept_by(heap, NodeId(position))}"
        case "saved":
            name = heap.node(NodeId(position)).name
            return f"what {name} saved{_kept_by(heap, NodeId(position))}"
        case "gradient":
            return f"the .grad of {place_of(heap, ImplId(position))}"
        case "view":
            return f"the view {place_of(heap, ImplId(position))}"
        case "view function":
            return f"how the view {place_of(heap, ImplId(position))} is made again"


def _kept_by(heap: Heap, n: NodeId) -> str:
    """The outputs whose graphs keep a node alive."""
    found = [
        place
        for place, t in places.places(heap)
        if heap.meta_of(t).grad_fn is not None and n in nodes_behind(heap, t)
    ]
    return f", kept by the graph of {', '.join(found)}" if found else ""


def place_of(heap: Heap, i: ImplId) -> str:
    """Where an impl stands first, or which object it belongs to."""
    for place, t in places.places(heap):
        if heap.tensor(t).impl == i:
            return place
    return f"object {heap.impl(i).pyobj}"
