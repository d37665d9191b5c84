"""
What does the torch that is here do, and what did others do when they were recorded?
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from swapmodel.commands.arguments import need_torch, once_each
from swapmodel.conformance.recording import read_recording
from swapmodel.conformance.replay import Differing, Replayed, replay
from swapmodel.specfiles.actions import table_of
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.provenance import SUFFIX, recordings
from swapmodel.specfiles.read import load_spec
from swapmodel.specfiles.schema import BadInput, nearest
from swapmodel.specfiles.toml import value

AS_RECORDED, DIVERGES = 0, 2

SHOWN = 3
"""How many divergences are printed; all that were kept are in the JSON file."""


@click.command("record")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--device", default="cpu", help="Record programs that use it, too.")
@click.option("--depth", type=click.IntRange(1, 3), default=2)
@click.option("--programs", type=click.IntRange(1), default=2_000)
def record_command(out: Path | None, device: str, depth: int, programs: int) -> int:
    """Record what the torch that is installed does, and replay it."""
    need_torch()
    from swapmodel.conformance.abilities import release
    from swapmodel.conformance.record import record

    def progress(done: int, count: int) -> None:
        if done % 500 == 0 or done == count:
            click.echo(f"{done} of {count} walks", err=True)

    if out is None:
        kind = "" if device == "cpu" else f"-{device}"
        out = specs_folder() / "recordings" / f"torch-{release()}{kind}{SUFFIX}"
    record(out, device=device, progress=progress, depth=depth, programs=programs)
    click.echo(f"written: {out}")
    return _replayed(out, None, 1)[0]


@click.command("replay")
@click.argument("names", nargs=-1, callback=once_each)
@click.option("--spec", help="Replay it under this spec; else under its own.")
@click.option("--share", type=click.IntRange(1), default=1, help="Walk one in SHARE.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False))
def replay_command(
    names: tuple[str, ...], spec: str | None, share: int, json_file: Path | None
) -> int:
    """Compare the model with recordings NAMES (files, releases or all); no torch."""
    files = [_file_of(name) for name in names] or [*recordings()]
    told = [_replayed(one, spec, share) for one in files]
    if json_file is not None:
        text = json.dumps([row for _, row in told], indent=2) + "\n"
        json_file.write_text(text, encoding="utf-8")
    return max((code for code, _ in told), default=AS_RECORDED)


def _file_of(name: str) -> Path:
    known = {path.name.removesuffix(SUFFIX): path for path in recordings()}
    found = known.get(name, known.get(f"torch-{name}", Path(name)))
    if not found.is_file():
        raise BadInput(f"no recording {name!r}", "command line", nearest(name, known))
    return found


def _replayed(
    path: Path, name: str | None, share: int
) -> tuple[int, dict[str, object]]:
    """Replay one recording, tell what came of it, and give that as data, too."""
    recording = read_recording(path)
    spec = load_spec(name or recording.provenance.torch)
    found = replay(recording, spec, share=share)
    declined = sum(found.declined.values())
    click.echo(
        f"{path.name.removesuffix(SUFFIX)} under {spec.id}: {found.programs} programs, "
        f"{found.diverging} divergences, {declined} declined"
    )
    for one in found.kept[:SHOWN]:
        _tell(one)
    row = {"recording": path.name, "spec": spec.id, **_data(found)}
    return AS_RECORDED if found.as_recorded else DIVERGES, row


def _tell(one: Differing) -> None:
    click.echo(f"  from {one.start}")
    for action in one.program:
        click.echo(f"    {value(table_of(action))}")
    for key, (model, torch) in one.differing.items():
        click.echo(f"  {key}: the model says {model!r}, torch showed {torch!r}")


def _data(found: Replayed) -> dict[str, object]:
    return {
        "programs": found.programs,
        "divergences": found.diverging,
        "declined": dict(sorted(found.declined.items())),
        "examples": [
            {
                "start": one.start,
                "program": [table_of(action) for action in one.program],
                "differing": {
                    key: {"model": repr(model), "torch": repr(torch)}
                    for key, (model, torch) in one.differing.items()
                },
            }
            for one in found.kept
        ],
    }
