"""What is recorded is planned by the model."""

from collections import Counter

import pytest

torch = pytest.importorskip("torch")

from swapmodel.actions import Action, Convert, SetFlag, SwapTensors  # noqa: E402
from swapmodel.conformance.plan import Plan, plan  # noqa: E402
from swapmodel.conversions import ToDevice, parts  # noqa: E402
from swapmodel.search.enabled import enabled  # noqa: E402
from swapmodel.semantics.step import step  # noqa: E402
from swapmodel.specfiles.actions import table_of  # noqa: E402
from swapmodel.state.heap import Heap  # noqa: E402
from tests.heaps import NEW, NO_SWAP, spec  # noqa: E402

pytestmark = [pytest.mark.torch]


def nothing(one: Action | Heap) -> str | None:
    """A release that lacks nothing."""
    return None


def no_switch(one: Action | Heap) -> str | None:
    """A release without the switch for swaps."""
    on = one.flags.swap if isinstance(one, Heap) else isinstance(one, SetFlag)
    return "no switch" if on else None


def actions_of(planned: Plan) -> list[Action]:
    """Every action of every walk."""
    return [one.action for walk in planned.walks for one in walk.taken]


def test_every_program_of_two_actions() -> None:
    """From each start heap a walk for each first action, with all that can follow."""
    planned = plan(spec(NEW), nothing, programs=1)
    walks = [walk for walk in planned.walks if walk.part == "exhaustive"]
    count = Counter(one.depth for walk in walks for one in walk.taken)

    assert count[1] == len(walks) > 300
    assert sum(count.values()) > 9_000
    assert all(one.look for walk in walks for one in walk.taken)
    assert sum(one.undefined for walk in walks for one in walk.taken) > 5
    assert not any(walk.looked for walk in walks)
    for walk in walks[:30]:
        first, *others = walk.taken
        after = step(planned.starts[walk.start], first.action, spec(NEW))
        seconds = {*enabled(after.heap, {one.action for one in others})}  # type: ignore[union-attr]
        assert seconds == {one.action for one in others}


def test_programs_at_random() -> None:
    """Every other one is looked at after its last action alone."""
    planned = plan(spec(NEW), nothing, depth=1, programs=40)
    walks = [walk for walk in planned.walks if walk.part == "random"]

    assert {walk.looked for walk in walks} == {True, False}
    assert max(len(walk.taken) for walk in walks) > 10
    for walk in walks:
        before = [one.look for one in walk.taken[:-1]]
        assert before == [walk.looked] * len(before)
        assert walk.taken[-1].look
        assert [one.depth for one in walk.taken] == [*range(1, len(walk.taken) + 1)]


def test_what_is_lacking_is_left_out_and_counted() -> None:
    """Start heaps that cannot be made, actions that are not there or not modelled."""
    planned = plan(spec(NO_SWAP), no_switch, depth=1, programs=150)

    assert not any(heap.flags.swap for heap in planned.starts.values())
    kinds = {type(one) for one in actions_of(planned)}
    assert not kinds & {SetFlag, SwapTensors}
    assert planned.left_out["start heaps: no switch"] == 6 + 52
    assert planned.left_out["no switch"] > 0
    assert planned.left_out["torch-2.1 has no swap_tensors"] > 0


def test_start_heaps_are_those_that_a_file_gives() -> None:
    """A module of a start heap is there, under the name of its part."""
    planned = plan(spec(NEW), nothing, depth=1, programs=1)

    assert {name.partition("/")[0] for name in planned.starts} == {
        "pair",
        "plain",
        "random",
        "wrapper",
    }
    assert len(planned.starts) == 12 + 104


def test_another_device() -> None:
    """Start heaps lie there, and what is moved is moved there and back."""
    planned = plan(spec(NEW), nothing, device="cuda", depth=1, programs=200)
    told = str([table_of(one) for one in actions_of(planned)])
    moves = {
        one.device
        for action in actions_of(planned)
        if isinstance(action, Convert)
        for one in parts(action.fn)
        if isinstance(one, ToDevice)
    }
    devices = {
        name: {impl.device for impl in heap.impls if impl is not None}
        for name, heap in planned.starts.items()
    }

    assert moves == {"cpu", "cuda", "meta"}
    assert "cuda" in told
    assert devices["plain/graded-cuda"] == {"cuda"}
    assert devices["plain/graded-cpu"] == {"cpu", "cuda"}
    assert devices["random/nested-cuda"] == {"cuda"}
    assert any(devices[name] == {"meta", "cuda"} for name in devices)
    assert len(planned.walks) > 400


def test_a_plan_is_the_same_every_time() -> None:
    """Whoever records a release again records the same programs."""
    one, other = (plan(spec(NEW), nothing, depth=1, programs=20) for _ in range(2))

    assert one.walks == other.walks
    assert one.left_out == other.left_out


def test_a_release_without_buffers() -> None:
    """What is marked as one is a plain tensor there."""
    with_, without = (
        plan(spec(NEW), nothing, buffers, depth=1, programs=1)
        for buffers in (True, False)
    )

    def marked(planned: Plan) -> int:
        heaps = planned.starts.values()
        held = [one.attributes for h in heaps for one in h.tensors if one is not None]
        return sum(("_is_buffer", 1) in one for one in held)

    assert marked(with_) > 50
    assert marked(without) == 0
    assert [*with_.starts] == [*without.starts]
