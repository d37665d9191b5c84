"""
Do the model and torch agree on every module by which torch tests its own?
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import Literal, TypeAlias

from attrs import Factory, define, frozen

from swapmodel.actions import Convert
from swapmodel.conformance.conform import start_worker
from swapmodel.conformance.perform import set_flag
from swapmodel.conversions import Cast, ConversionFn, ToDevice, ToEmpty
from swapmodel.live import samples
from swapmodel.live.judge import Judgement, judge
from swapmodel.live.samples import Sample, roots_of
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.read import load_spec

OPERATIONS: dict[str, ConversionFn] = {
    ".double()": Cast("float64"),
    ".float()": Cast("float32"),
    '.to("meta")': ToDevice("meta"),
    '.to_empty(device="cpu")': ToEmpty("cpu"),
}
"""What is done to each module, as torch spells it; `.float()` finds little to do."""

FIRST = next(iter(OPERATIONS))
"""Before this one, what was read is compared too; before the others it is the same."""

Flag: TypeAlias = Literal["", "swap", "overwrite"]

FLAGS: tuple[Flag, ...] = ("", "swap", "overwrite")
"""Which switch of `torch.__future__` is on."""

SHOWN = 5
"""How many disagreements of a class are kept."""


@frozen
class Case:
    """One way to convert a module."""

    operation: str
    flag: Flag
    gradients: bool

    def __str__(self) -> str:
        flag = f"{self.flag} on" if self.flag else "no flag"
        return (
            f"{self.operation}, {flag}, {'with' if self.gradients else 'no'} gradients"
        )


CASES = tuple(
    Case(operation, flag, gradients)
    for operation, flag, gradients in product(OPERATIONS, FLAGS, (False, True))
)


@define
class Tally:
    """What came of the conversions of one class."""

    kind: str
    instances: int = 0
    agreed: Counter[str] = Factory(Counter)
    """How many conversions came out as predicted, by operation."""

    declined: Counter[tuple[str, str]] = Factory(Counter)
    """How many the model declines, by operation and reason."""

    refused: Counter[str] = Factory(Counter)
    """How many of those that agree are refused, by rule."""

    disagreed: int = 0
    examples: list[str] = Factory(list)
    """The first disagreements, in words."""

    def add(self, sample: Sample, case: Case, found: Judgement) -> None:
        """Count one conversion."""
        if found.verdict == "agrees":
            self.agreed[case.operation] += 1
            if found.why:
                self.refused[found.why] += 1
        elif found.verdict == "declined":
            self.declined[case.operation, found.why] += 1
        else:
            self.disagreed += 1
            if len(self.examples) < SHOWN:
                self.examples.append(_told(sample, case, found))

    @property
    def conversions(self) -> int:
        """How many modules were converted, or declined."""
        known = self.agreed.total() + self.declined.total()
        return known + self.disagreed


def _told(sample: Sample, case: Case, found: Judgement) -> str:
    lines = [f"{sample.kind} {sample.number}, {case}: {found.why or 'differs'}"]
    for what, (model, real) in found.differing.items():
        lines.append(f"    {what}: {model!r} in the model, {real!r} in torch")
    return "\n".join(lines)


Progress: TypeAlias = Callable[[Tally], None]


def agree(
    kinds: Sequence[str],
    spec: str,
    *,
    processes: int = 2,
    share: int = 1,
    progress: Progress | None = None,
) -> tuple[Tally, ...]:
    """
    Convert every instance of *kinds* in every way, and compare with the prediction.

    A *share* of n takes one way in n of each instance, another one of the next.
    """
    found = list[Tally]()
    context = get_context("spawn")
    with ProcessPoolExecutor(processes, context, initializer=start_worker) as pool:
        for tally in pool.map(_of_kind, kinds, *_repeated(spec, share, len(kinds))):
            found.append(tally)
            if progress is not None:
                progress(tally)
    return tuple(found)


def _repeated(spec: str, share: int, count: int) -> Iterator[list[str] | list[int]]:
    yield [spec] * count
    yield [share] * count


def _of_kind(kind: str, spec: str, share: int) -> Tally:
    made = samples.samples(kind)
    # What was made so far is out of sight of the collections after each conversion.
    gc.freeze()
    return of_samples(kind, made, load_spec(spec), share)


def of_samples(kind: str, made: Sequence[Sample], spec: Spec, share: int = 1) -> Tally:
    """Convert some samples, each in every way or in a share of them."""
    tally = Tally(kind, len(made))
    for sample in made:
        for number, case in enumerate(CASES):
            if (sample.number + number) % share == 0:
                tally.add(sample, case, _judged(sample, case, spec))
    return tally


def _judged(sample: Sample, case: Case, spec: Spec) -> Judgement:
    for flag in FLAGS[1:]:
        set_flag(flag, flag == case.flag)
    try:
        roots = roots_of(sample.make(), gradients=case.gradients)
        action = Convert("m", OPERATIONS[case.operation])
        return judge(roots, action, spec, reread=case.operation == FIRST)
    finally:
        for flag in FLAGS[1:]:
            set_flag(flag, False)
