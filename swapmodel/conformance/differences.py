"""
In what do the model and real torch differ after an action?
"""

from __future__ import annotations

from typing import Any

from attrs import evolve

from swapmodel.conformance.observation import FIELDS, VALUES, Observation, Result, Row
from swapmodel.specfiles.texts import says


def differences(model: Result, torch: Result) -> dict[str, tuple[Any, Any]]:
    """
    Name everything in which two results differ, with the model's and torch's value.

    Where the model knows no values, torch's are not looked at.
    """
    if model == torch:
        return {}
    torch = evolve(torch, then=forget_unknown(model.then, torch.then))
    if _errors_fit(model.errors, torch.errors):
        torch = evolve(torch, errors=model.errors)
    if model == torch:
        return {}
    pairs: dict[str, tuple[Any, Any]] = {
        "kind": (model.kind, torch.kind),
        "errors": (model.errors, torch.errors),
        "fired": (model.fired, torch.fired),
        "nodes": (model.then.nodes, torch.then.nodes),
        "modules": (model.then.modules, torch.then.modules),
        "weakrefs": (model.then.weakrefs, torch.then.weakrefs),
        "flags": (model.then.flags, torch.then.flags),
    }
    one, other = dict(model.then.places), dict(torch.then.places)
    for place in [*one, *(name for name in other if name not in one)]:
        pairs |= _of_place(place, one.get(place), other.get(place))
    return {key: both for key, both in pairs.items() if both[0] != both[1]}


def _errors_fit(
    model: tuple[tuple[str, str], ...], torch: tuple[tuple[str, str], ...]
) -> bool:
    return len(model) == len(torch) and all(
        kind in kinds.split(" | ") and says(text, actual)
        for (kinds, text), (kind, actual) in zip(model, torch, strict=True)
    )


def _of_place(
    place: str, one: Row | None, other: Row | None
) -> dict[str, tuple[Any, Any]]:
    if one is None or other is None or len(one) != len(other):
        return {place: (one, other)}
    both = zip(FIELDS, one, other, strict=False)
    return {f"{place}.{field}": (mine, theirs) for field, mine, theirs in both}


def forget_unknown(model: Observation, torch: Observation) -> Observation:
    """Leave out of torch's observation the values that the model does not know."""
    if len(model.places) != len(torch.places):
        return torch
    made = list[tuple[str, Row]]()
    for (_, mine), (place, theirs) in zip(model.places, torch.places, strict=True):
        known = len(mine) == 1 or len(theirs) == 1 or mine[VALUES] is not None
        made.append((place, theirs if known else _without_values(theirs)))
    return evolve(torch, places=tuple(made))


def _without_values(row: Row) -> Row:
    return (*row[:VALUES], None, *row[VALUES + 1 :])


def hide(model: Result, columns: tuple[str, ...]) -> Result:
    """Leave out the columns of rows that a release cannot show."""
    if not columns:
        return model
    left_out = {FIELDS.index(one) for one in columns}

    def hidden(row: Row) -> Row:
        shown = [None if n in left_out else value for n, value in enumerate(row)]
        return row if len(row) == 1 else tuple(shown)

    rows = tuple([(place, hidden(row)) for place, row in model.then.places])
    return evolve(model, then=evolve(model.then, places=rows))
