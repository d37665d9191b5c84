"""Real torch is recorded, and what was recorded is replayed."""

import os
import signal
from pathlib import Path

import pytest
from attrs import evolve

torch = pytest.importorskip("torch")

from swapmodel.actions import (  # noqa: E402
    Cast,
    Convert,
    Forward,
    Program,
    SetData,
    View,
    Write,
)
from swapmodel.conformance import record  # noqa: E402
from swapmodel.conformance.abilities import lacks, release  # noqa: E402
from swapmodel.conformance.observation import VALUES, Result  # noqa: E402
from swapmodel.conformance.plan import Plan, Planned, PlannedWalk  # noqa: E402
from swapmodel.conformance.recording import Walk, read_recording  # noqa: E402
from swapmodel.conformance.replay import replay  # noqa: E402
from swapmodel.conformance.world import World  # noqa: E402
from swapmodel.conversions import ToEmpty  # noqa: E402
from swapmodel.specfiles.provenance import SUFFIX  # noqa: E402
from swapmodel.specfiles.read import load_spec  # noqa: E402
from swapmodel.specfiles.schema import BadInput  # noqa: E402
from swapmodel.state.heap import Heap  # noqa: E402
from tests.heaps import LATE, NEW, module, spec  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:The .grad attribute"),
]

HERE = load_spec(release())


def test_what_is_recorded_is_replayed(tmp_path: Path) -> None:
    """Without a divergence, and with some under another spec; twice the same file."""
    one, other = (tmp_path / f"{name}{SUFFIX}" for name in "ab")
    told = list[tuple[int, int]]()

    def progress(done: int, count: int) -> None:
        told.append((done, count))

    provenance = record.record(one, progress=progress, depth=1, programs=30)
    again = record.record(other, depth=1, programs=30)
    recording = read_recording(one)

    assert replay(recording, HERE).kept == []
    assert replay(recording, spec(LATE)).diverging > 5
    assert provenance.sha256 == again.sha256
    assert provenance.torch == release()
    assert provenance.git == torch.version.git_version
    assert told[-1] == (len(recording.walks), len(recording.walks))


def walked(program: Program, start: Heap, *, looked: bool = True) -> Walk:
    """A program as a walk, taken in torch."""
    taken = [Planned(depth, action) for depth, action in enumerate(program, 1)]
    return together([PlannedWalk("random", "here", looked, tuple(taken))], start)[0]


def together(walks: list[PlannedWalk], start: Heap) -> list[Walk]:
    """Walks from one start heap."""
    planned = Plan(spec(NEW), lacks, starts={"here": start}, walks=walks)
    return [*record._walked(walks, planned)]


def test_a_dying_process_is_recorded() -> None:
    """What came before it is there; so are the walks that were taken beside it."""
    dying = (View("p", "v"), SetData("t", "p"), Forward("scale", "t", "y"))
    start = module("TwoTensor")
    walk = walked(dying, start)
    last = walk.taken[-1].seen

    assert [type(one.seen) for one in walk.taken[:-1]] == [Result, Result]
    assert last == "died" or (isinstance(last, Result) and last.kind == "refused")


@pytest.mark.parametrize("looked", [True, False])
def test_one_that_dies_leaves_the_others(
    looked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Walks are taken again one at a time, then actions."""
    run = World.run

    def dies(world: World, action: object) -> object:
        if action == Write("t"):
            os.kill(os.getpid(), signal.SIGSEGV)
        return run(world, action)  # type: ignore[arg-type]

    monkeypatch.setattr(World, "run", dies)
    branches: tuple[Planned, ...]
    view, write = View("p", "v"), Write("t")
    branches = (Planned(1, view), Planned(2, write), Planned(1, Write("p")))
    if looked:
        branches = branches[:2]
    one = PlannedWalk("exhaustive", "here", looked, branches)
    other = evolve(one, taken=branches[:1])
    first, second, third = together([other, one, other], module())
    seen = [one.seen for one in second.taken]

    assert first == third
    assert [type(one) for one in seen] == [Result, str, Result][: len(seen)]
    assert seen[0] == first.taken[0].seen
    assert seen[1] == "died"


def test_what_was_never_written_is_not_recorded() -> None:
    """Memory that `to_empty` gives holds anything; there are no values of it."""
    emptied = (Convert("m", ToEmpty("cpu")), Convert("m", Cast("float64")))
    walk = walked(emptied, module())
    for one in walk.taken:
        assert isinstance(one.seen, Result)
        rows = dict(one.seen.then.places)
        assert rows["m.weight"][VALUES] is None
        assert rows["p"][VALUES] == (3, 4)


def test_what_is_undefined_ends_in_a_process_of_its_own() -> None:
    """Its end is what is recorded."""
    before, last = Planned(1, SetData("t", "p")), Planned(2, Forward("scale", "t", "y"))
    taken = (before, evolve(last, undefined=True))
    undefined = PlannedWalk("random", "here", False, taken)
    fine = evolve(undefined, taken=(evolve(before, undefined=True),))
    first, second = together([undefined, fine], module("TwoTensor"))

    assert first.taken[-1].seen in ("died", "not allocated")
    assert second.taken[-1].seen == "went on"


@pytest.mark.parametrize("device", ["cuda", "gone"])
def test_a_device_that_is_not_there(device: str, tmp_path: Path) -> None:
    """Nothing is recorded, and one line says so."""
    if getattr(torch, device, None) is not None and torch.cuda.is_available():
        pytest.skip("it is there")
    with pytest.raises(BadInput, match=f"torch sees no {device} device"):
        record.record(tmp_path / "one", device=device)
    assert [*tmp_path.iterdir()] == []


def test_a_fault_in_a_process_is_not_taken_for_a_death() -> None:
    """It is told, and ends the recording."""
    with pytest.raises(AssertionError, match="a child process failed"):
        record._in_child(lambda: {"no": object()})
