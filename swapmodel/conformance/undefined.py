"""
Does real torch misbehave where the model says that it does?

The program runs in a child process, which is expected to die of it.
"""

from __future__ import annotations

import faulthandler
import os
import resource
from typing import Literal, TypeAlias

from swapmodel.actions import Program
from swapmodel.conformance.world import World
from swapmodel.state.heap import Heap

End: TypeAlias = Literal["died", "not allocated", "raised", "went on"]
"""What became of the child: a signal ended it, torch raised, or nothing happened."""

_NOT_ALLOCATED = "The tensor has a non-zero number of elements, but its data is not"
"""What some kernels ask before they read; others read at once."""

_EXIT_CODES: dict[int, End] = {0: "went on", 3: "raised", 4: "not allocated"}


def end_of(start: Heap, program: Program) -> End:
    """Run a program in a child process and say what its last action came to."""
    child = os.fork()
    if not child:
        _run_and_exit(start, program)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "died"
    code = os.WEXITSTATUS(status)
    assert code in _EXIT_CODES, f"a child process ended with {code}"
    return _EXIT_CODES[code]


def _run_and_exit(start: Heap, program: Program) -> None:
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.disable()
        world = World(start)
        errors = [world.run(action) for action in program]
        code = 0
        for _, text in errors[-1]:
            code = 4 if text.startswith(_NOT_ALLOCATED) else 3
    finally:
        os._exit(code)
