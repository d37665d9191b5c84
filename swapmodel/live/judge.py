"""
Does torch make of a live module what the model predicts?
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import torch
from attrs import evolve, field, frozen

from swapmodel.actions import Convert
from swapmodel.conformance import perform
from swapmodel.conformance.differences import differences
from swapmodel.conformance.observation import Result
from swapmodel.conformance.predicted import predicted
from swapmodel.conformance.world import chain_of
from swapmodel.live.lift import Lifted, lift
from swapmodel.live.reasons import NotLifted
from swapmodel.live.retold import Contents, contents, retold, seen, seen_live
from swapmodel.live.windows import is_wrapper
from swapmodel.outcomes import Done, OutOfScope, Refused, Undefined
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.state.events import Converted
from swapmodel.state.heap import Heap
from swapmodel.state.ids import TensorId

Verdict: TypeAlias = Literal["agrees", "declined", "disagrees"]


@frozen
class Judgement:
    """What came of one conversion."""

    verdict: Verdict

    why: str = ""
    """Why the model declines, or what the refusal of both worlds was."""

    paths: tuple[str, ...] = ()
    """The path that each parameter and gradient took, in order."""

    differing: Mapping[str, Any] = field(factory=dict)
    """In what the worlds differ, with the model's and with torch's value."""


def judge(
    roots: dict[str, Any], action: Convert, spec: Spec, *, reread: bool = True
) -> Judgement:
    """
    Read *roots* into a heap, convert there and here, and compare.

    Every tensor that is to be watched has a name in *roots*: so a tensor that is
    replaced is known from one that is still there.  With *reread*, what was read is
    compared as well, before anything is converted.
    """
    try:
        lifted = lift(roots)
    except NotLifted as error:
        return Judgement("declined", error.why)
    known = contents(roots, lifted)
    found = _misread(roots, lifted, known) if reread else {}
    if found:
        return Judgement("disagrees", "as it was read", differing=found)
    outcome = step(lifted.heap, action, spec)
    if isinstance(outcome, OutOfScope):
        return Judgement("declined", outcome.why)
    if isinstance(outcome, Undefined):
        return Judgement("declined", f"torch would crash: {outcome.why}")
    return _converted(roots, action, spec, lifted, known, outcome)


def _misread(roots: dict[str, Any], lifted: Lifted, known: Contents) -> dict[str, Any]:
    one, other = seen(lifted.heap, known), seen_live(roots, lifted)
    return differences(Result("done", (), (), one), Result("done", (), (), other))


def _converted(
    roots: dict[str, Any],
    action: Convert,
    spec: Spec,
    lifted: Lifted,
    known: Contents,
    outcome: Done | Refused,
) -> Judgement:
    """Convert the live module, and compare it with what is promised."""
    before = _standing(roots)
    errors = _run(roots, action)
    after = _standing(roots)
    told = predicted(outcome, spec)
    # What fires in a conversion is what strangers' weak references call, unseen here.
    promised = evolve(told, fired=(), then=retold(told.then, known))
    kind = "refused" if errors else "done"
    real = Result(kind, errors, (), seen_live(roots, lifted))
    found = dict(differences(promised, real))
    kept_once = _converted_once(lifted.heap, outcome, before)
    for name, kept in _kept(kept_once, after).items():
        foreseen = _foreseen(lifted.heap, outcome.heap, name)
        if foreseen != kept:
            found[f"{name}: same impl, same storage"] = (foreseen, kept)
    paths = tuple([f"{one.role} {one.path}" for one in _conversions(outcome)])
    if isinstance(outcome, Done):
        found |= _wrong_paths(roots, lifted.heap, outcome, kept_once, after)
    why = outcome.rule if isinstance(outcome, Refused) else ""
    return Judgement("disagrees" if found else "agrees", why, paths, found)


def _run(roots: dict[str, Any], action: Convert) -> tuple[tuple[str, str], ...]:
    """Convert; give the types and texts of the exceptions it came to."""
    errors: tuple[tuple[str, str], ...] = ()
    try:
        perform.perform(roots, [], action)
    except Exception as error:
        errors = chain_of(error)
    gc.collect()
    return errors


# -- What a name stands for, before and after ------------------------------------------

Standing: TypeAlias = dict[str, tuple[int, int | None]]
"""The impl and the storage of each tensor that has a name."""


def _standing(roots: Mapping[str, Any]) -> Standing:
    with torch._C.DisableTorchFunctionSubclass():
        return {
            name: (t._cdata, None if is_wrapper(t) else t.untyped_storage()._cdata)
            for name, t in roots.items()
            if isinstance(t, torch.Tensor)
        }


def _converted_once(heap: Heap, outcome: Done | Refused, before: Standing) -> Standing:
    """
    Leave out what is converted more often, being registered more often.

    What the first conversion gives up, the second may get again: no address tells.
    """
    often = Counter(one.tensor for one in _conversions(outcome))
    return {
        name: was for name, was in before.items() if often[_position(heap, name)] < 2
    }


def _kept(before: Standing, after: Standing) -> dict[str, tuple[bool, bool]]:
    return {
        name: (was[0] == after[name][0], was[1] == after[name][1])
        for name, was in before.items()
    }


def _foreseen(before: Heap, then: Heap, name: str) -> tuple[bool, bool]:
    t = _position(before, name)
    was, now = before.tensor(t).impl, then.tensor(t).impl
    return was == now, before.impl(was).storage == then.impl(now).storage


def _position(heap: Heap, name: str) -> TensorId:
    return next(TensorId(t) for one, _, t in heap.names if one == name)


# -- Paths -----------------------------------------------------------------------------


def _conversions(outcome: Done | Refused) -> Iterator[Converted]:
    for one in outcome.events:
        if isinstance(one, Converted) and one.role != "buffer":
            yield one


def _wrong_paths(
    roots: dict[str, Any], heap: Heap, outcome: Done, before: Standing, after: Standing
) -> dict[str, Any]:
    """
    The paths that what became of the tensors does not bear out.

    A gradient that the function gives back leaves no trace: it is swapped with itself.
    """
    conversions = {one.tensor: one for one in _conversions(outcome)}
    held = {id(t) for t in _registered(roots)}
    found = dict[str, Any]()
    for name, was in before.items():
        one = conversions.get(_position(heap, name))
        kept = "data" if after[name][0] == was[0] else "swap"
        real = kept if id(roots[name]) in held else "assign"
        if one is None or (one.role == "gradient" and after[name] == was):
            continue
        if one.path != real:
            found[f"{name}: path"] = one.path, real
    return found


def _registered(roots: Mapping[str, Any]) -> Iterator[Any]:
    for module in roots.values():
        if isinstance(module, torch.nn.Module):
            for t in module.parameters():
                yield t
                if (grad := _grad(t)) is not None:
                    yield grad


def _grad(t: Any) -> Any:
    with torch._C.DisableTorchFunctionSubclass():
        return t.grad
