"""
How fast is it, and how large?  Ratios of one run, medians of several.

`python -m bench.run [--size N] [--repeat R] [--only WORD]`
"""

import argparse
import contextlib
import gc
import importlib.util
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from bench import object_swap
from swapmodel.actions import (
    Action,
    Backward,
    Cast,
    ClearGrad,
    Convert,
    Drop,
    FillGrad,
    Forward,
    Program,
    SetAttribute,
    TakeWeakref,
    View,
)
from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.run import run
from swapmodel.search.canonical import canonical
from swapmodel.search.enabled import enabled
from swapmodel.search.explore import Search
from swapmodel.search.machine import empty_machine, machine
from swapmodel.semantics.spec import Spec
from swapmodel.semantics.step import step
from swapmodel.specfiles.read import load_spec
from swapmodel.state.build import Builder
from swapmodel.state.heap import Heap

RELEASE = "torch-2.13"

Row = tuple[str, str]
"""What was measured, and what came out."""


def median(measured: Callable[[], float], repeat: int) -> float:
    """
    The median of several measurements, each after a collection of garbage.

    What is imported is frozen first: torch's modules are not what is measured.
    """
    gc.freeze()
    found = []
    for _ in range(repeat):
        gc.collect()
        found.append(measured())
    return statistics.median(found)


def seconds(function: Callable[[], object], times: int = 1) -> float:
    """The processor seconds of one of several calls: other programs do not count."""
    start = time.process_time()
    for _ in range(times):
        function()
    return (time.process_time() - start) / times


# -- The rows ------------------------------------------------------------------------


def conversion(spec: Spec, size: int, repeat: int) -> Iterator[Row]:
    """One conversion of one parameter with a gradient, and its key."""
    heap = object_swap.scope(1, "convert").starts[0][1]
    action = Convert("m0", Cast("float64"))
    took = median(lambda: seconds(lambda: step(heap, action, spec), 500), repeat)
    yield "conversion of a parameter with gradient, swap path", f"{took * 1e6:.1f} us"
    took = median(lambda: seconds(lambda: canonical(heap), 500), repeat)
    yield "key of that heap", f"{took * 1e6:.1f} us"


def explorer(spec: Spec, size: int, repeat: int) -> Iterator[Row]:
    """Heaps per second of the explorer, with and without invariants."""
    name = f"object-swap N={size}"
    for how in ("all", "no"):
        search = Search(
            object_swap.scope(size, "convert"),
            spec,
            INVARIANTS if how == "all" else (),
        )
        took = seconds(search.run)
        heaps = len(search.parents)
        rate = f"{heaps / took:,.0f} heaps/s, {search.transitions / took:,.0f} steps/s"
        yield f"explorer, {name}, {how} invariants", f"{heaps:,} heaps, {rate}"
    yield f"visited set and parent links, {name}", f"{memory(search):.0f} bytes/heap"
    if importlib.util.find_spec("minicheck") is None:
        yield "minicheck on the same model", "not installed"
        return
    from bench import minicheck_model

    states: list[int] = []
    took = seconds(
        lambda: states.append(minicheck_model.count(size, gradient_is_cast=True))
    )
    rate = f"{states[0]:,} states, {states[0] / took:,.0f} states/s"
    yield f"minicheck, {name}, model without phases", rate


def memory(search: Search) -> float:
    """The bytes that a search keeps of each heap that it is done with."""
    kept = sum(map(sys.getsizeof, search.visited)) + sys.getsizeof(search.visited)
    kept += sys.getsizeof(search.parents) + sys.getsizeof(search.taken)
    return kept / len(search.parents)


def steps_per_second(found: type[RuleBasedStateMachine]) -> float:
    """How many examples of 30 steps a machine runs, in steps per second."""
    examples, steps = 30, 30
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    took = seconds(lambda: run_state_machine_as_test(found, settings=chosen))
    return examples * steps / took


def machines(spec: Spec, size: int, repeat: int) -> Iterator[Row]:
    """Steps of the Hypothesis machine, beside one that does nothing."""
    starts = object_swap.scope(1, "convert").starts
    full = machine(spec, starts, known=lambda cause: True)
    empty = empty_machine(starts)
    rates = [median(partial(steps_per_second, one), repeat) for one in (full, empty)]
    shown = f"{rates[0]:,.0f} steps/s, {rates[0] / rates[1]:.2f} of the empty machine's"
    yield "Hypothesis machine", shown


def start(cls: str) -> Heap:
    """A module with one parameter of that class and its gradient."""
    builder = Builder(swap=True)
    weight = builder.parameter(cls=cls)
    inner = "TwoTensor" if cls == "TwoTensor" else "Tensor"
    builder.gradient(weight, builder.tensor((1, 1), cls=inner))
    builder.name("m", "module", builder.module({"weight": weight}))
    builder.name("t", "tensor", builder.tensor((3, 4)))
    return builder.heap()


TRIED: tuple[Action, ...] = (
    Convert("m", Cast("float32")),
    Convert("m", Cast("float64")),
    FillGrad("m.weight"),
    ClearGrad("m.weight"),
    Forward("scale", "m.weight", "y"),
    Forward("square", "m.weight", "z"),
    Backward("y"),
    Backward("z"),
    View("m.weight", "v"),
    Drop("y"),
    Drop("z"),
    Drop("v"),
    TakeWeakref("ReferenceType", "m.weight", "r"),
    Drop("r"),
    SetAttribute("m.weight", "tag"),
)


def programs(heap: Heap, spec: Spec, count: int) -> list[Program]:
    """Random ten-action programs of actions that are enabled when they run."""
    chosen = random.Random(1)
    found = []
    for _ in range(count):
        one, program = heap, list[Action]()
        for _ in range(10):
            action = chosen.choice(list(enabled(one, TRIED)))
            program.append(action)
            one = getattr(step(one, action, spec), "heap", one)
        found.append(tuple(program))
    return found


def interpreter(spec: Spec, size: int, repeat: int) -> Iterator[Row]:
    """Programs per second of the interpreter, beside real torch on the same ones."""
    for name, cls in (("plain", "Parameter"), ("wrapper", "TwoTensor")):
        heap = start(cls)
        drawn = programs(heap, spec, 100)
        ours = median(partial(seconds, partial(interpreted, heap, drawn, spec)), repeat)
        shown = f"{len(drawn) / ours:,.0f} programs/s"
        if importlib.util.find_spec("torch") is not None:
            theirs = median(partial(seconds, partial(performed, heap, drawn)), repeat)
            rate = len(drawn) / theirs
            shown += f", {theirs / ours:.2f} of torch's {rate:,.0f}"
        yield f"interpreter, ten random actions, {name} parameter", shown


def interpreted(heap: Heap, drawn: list[Program], spec: Spec) -> None:
    """Run the programs in the interpreter, with a frozen heap after every action."""
    for program in drawn:
        run(heap, program, spec)


def performed(heap: Heap, drawn: list[Program]) -> None:
    """Run the programs on real torch, without looking at anything."""
    from swapmodel.conformance.perform import perform
    from swapmodel.conformance.world import World

    for program in drawn:
        world = World(heap)
        for action in program:
            with contextlib.suppress(Exception):
                perform(world.variables, world.fired, action)


ROWS = {
    "conversion": conversion,
    "explorer": explorer,
    "interpreter": interpreter,
    "machine": machines,
}


def main() -> None:
    """Print what was measured, row by row."""
    parser = argparse.ArgumentParser(description="Measure speed and size.")
    parser.add_argument("--size", type=int, default=3, help="tensors in object-swap")
    parser.add_argument("--repeat", type=int, default=5, help="runs of a median")
    parser.add_argument("--only", choices=sorted(ROWS), help="one group of rows")
    asked = parser.parse_args()
    spec = load_spec(RELEASE)
    for name, rows in ROWS.items():
        if asked.only in (None, name):
            for what, came_out in rows(spec, asked.size, asked.repeat):
                print(f"{what:<58} {came_out}", flush=True)


if __name__ == "__main__":
    main()
