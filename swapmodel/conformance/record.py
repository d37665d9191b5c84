"""
What does the torch that is here do?  Asked once of a release, replayed everywhere.

Programs run in child processes, so that one which dies is a fact like any other.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import platform
import re
import resource
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import torch
from attrs import evolve

from swapmodel.actions import Program
from swapmodel.conformance.abilities import has_buffers, lacks, release, unseen
from swapmodel.conformance.differences import forget_unknown
from swapmodel.conformance.observation import Observation, Result
from swapmodel.conformance.plan import Plan, Planned, PlannedWalk, plan
from swapmodel.conformance.recording import (
    Recording,
    Seen,
    Taken,
    Walk,
    tuples,
    write_recording,
)
from swapmodel.conformance.replay import predictions
from swapmodel.conformance.undefined import end_of
from swapmodel.conformance.world import World, settle
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.provenance import Provenance
from swapmodel.specfiles.read import load_spec
from swapmodel.specfiles.schema import BadInput
from swapmodel.state.heap import Heap

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")

TOGETHER = 40
"""How many walks are taken in one process: making one costs as much as ten."""


def record(
    path: Path,
    *,
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
    **size: int,
) -> Provenance:
    """Record the torch that is here into a file; *size* is that of the plan."""
    _need(device)
    spec = load_spec(release())
    planned = plan(spec, lacks, has_buffers(), device=device, **size)
    settle()
    walks = list[Walk]()
    for first in range(0, len(planned.walks), TOGETHER):
        walks += _walked(planned.walks[first : first + TOGETHER], planned)
        if progress is not None:
            progress(len(walks), len(planned.walks))
    left_out = dict(sorted(planned.left_out.items()))
    provenance = _provenance(device, left_out)
    return write_recording(path, Recording(provenance, planned.starts, tuple(walks)))


def _need(device: str) -> None:
    if device == "cpu":
        return
    module = getattr(torch, device, None)
    if module is None or not module.is_available():
        instead = "record where there is one"
        raise BadInput(f"torch sees no {device} device", "this machine", instead)


def _provenance(device: str, left_out: dict[str, int]) -> Provenance:
    return Provenance(
        torch=release(),
        build=str(torch.__version__),
        git=str(torch.version.git_version),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        date=datetime.now(UTC).date().isoformat(),
        device=device if device == "cpu" else torch.cuda.get_device_name(),
        unseen=unseen(),
        left_out=left_out,
    )


# -- Walks ---------------------------------------------------------------------------


def _walked(walks: list[PlannedWalk], planned: Plan) -> Iterator[Walk]:
    """Take walks in torch, in one process if it survives them."""

    def together() -> list[list[Any]]:
        return [list(_steps(one, planned.starts[one.start])) for one in walks]

    told = _in_child(together)
    if told is _DIED and len(walks) > 1:
        for one in walks:
            yield from _walked([one], planned)
        return
    for number, walk in enumerate(walks):
        start = planned.starts[walk.start]
        if told is _DIED:
            seen = _apart(walk, start)
        else:
            seen = [_read(one) for one in told[number]]
        yield _without_unknown(_taken(walk, seen), start, planned.spec)


def _taken(walk: PlannedWalk, seen: list[Seen]) -> Walk:
    both = zip(walk.taken, seen, strict=True)
    taken = [Taken(one.depth, one.action, shown) for one, shown in both]
    return Walk(walk.part, walk.start, walk.looked, tuple(taken))


def _steps(planned: PlannedWalk, start: Heap) -> Iterator[Any]:
    """What torch shows after each action, as it can be sent to another process."""
    program: Program = ()
    world = World(start)
    for one in planned.taken:
        program = (*program[: one.depth - 1], one.action)
        if one.undefined:
            yield end_of(start, program)
        elif planned.looked:
            yield _sent(world.look(world.run(one.action)))
        elif one.look:
            yield _shown(start, program)
        else:
            yield None


def _shown(start: Heap, program: Program) -> Any:
    """What torch shows after the last action of a program."""
    world = World(start)
    for action in program[:-1]:
        world.run(action)
    return _sent(world.look(world.run(program[-1])))


def _apart(planned: PlannedWalk, start: Heap) -> list[Seen]:
    """The same as `_steps`, each in a process of its own, because one has died."""
    seen = list[Seen]()
    for number in range(len(planned.taken)):
        first = planned.taken[: number + 1]
        alone = evolve(planned, taken=first if planned.looked else _path(first))
        shown = _in_child(partial(_last, alone, start))
        seen.append("died" if shown is _DIED else _read(shown))
    return seen


def _path(taken: tuple[Planned, ...]) -> tuple[Planned, ...]:
    """The program of the last one, which is looked at only at its end."""
    path: tuple[Planned, ...] = ()
    for one in taken:
        path = (*path[: one.depth - 1], evolve(one, look=False, undefined=False))
    return (*path[:-1], taken[-1])


def _last(planned: PlannedWalk, start: Heap) -> Any:
    return list(_steps(planned, start))[-1]


def _sent(result: Result) -> Any:
    then = result.then
    told = [then.places, then.nodes, then.modules, then.weakrefs, then.flags]
    # An address is another one every time.
    errors = [(kind, ADDRESS.sub("0x...", text)) for kind, text in result.errors]
    return [result.kind, errors, result.fired, told]


def _read(told: Any) -> Seen:
    if not isinstance(told, list):
        return told  # type: ignore[no-any-return]
    kind, errors, fired, then = tuples(told)
    return Result(kind, errors, fired, Observation(*then))


def _without_unknown(walk: Walk, start: Heap, spec: Spec) -> Walk:
    """Forget what torch read from memory that nobody wrote."""
    taken = list(walk.taken)
    for one in predictions(walk, start, spec):
        seen = one.taken.seen
        if one.promised is not None and isinstance(seen, Result):
            then = forget_unknown(one.promised.then, seen.then)
            taken[one.number] = evolve(one.taken, seen=evolve(seen, then=then))
    return evolve(walk, taken=tuple(taken))


# -- Processes -----------------------------------------------------------------------

_DIED = object()


def _in_child(run: Callable[[], Any]) -> Any:
    """Run something in a child process and read what it gives, or that it died."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            faulthandler.disable()
            # What was recorded before is not to be collected after every action.
            gc.freeze()
            with os.fdopen(write, "w", encoding="utf-8") as file:
                json.dump(run(), file)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as file:
        told = file.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return _DIED
    assert os.WEXITSTATUS(status) == 0, "a child process failed"
    return json.loads(told)
