"""
What does `swapmodel agree` do?
"""

from __future__ import annotations

from importlib.util import find_spec

import click

from swapmodel.commands.arguments import once_each
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.read import load_spec
from swapmodel.specfiles.schema import BadInput, nearest
from swapmodel.specfiles.write import write_text

AGREES, DIFFERS = 0, 2

NEEDED = ("torch", "expecttest")
"""What torch's own tests import."""


@click.command("agree")
@click.argument("wanted", metavar="[CLASSES]...", nargs=-1, callback=once_each)
@click.option("--spec", "name", help="Predict under this spec; else the torch's own.")
@click.option("--processes", type=click.IntRange(1, 64), default=2)
@click.option(
    "--share", type=click.IntRange(1), default=1, help="Convert one in SHARE."
)
@click.option("--write", is_flag=True, help="Write docs/agreement.md.")
def agree_command(
    wanted: tuple[str, ...],
    name: str | None,
    processes: int,
    share: int,
    write: bool,
) -> int:
    """Convert the modules and tensors by which torch is tested, and compare."""
    if write and (wanted or name or share != 1):
        raise BadInput("a part of a table", "command line", "leave out all but --write")
    for one in NEEDED:
        if find_spec(one) is None:
            what = f"{one} is not installed"
            raise BadInput(what, "this Python", "pip install torch==2.13.0 expecttest")
    from swapmodel.conformance.abilities import release
    from swapmodel.live import samples
    from swapmodel.live.agree import Tally, agree
    from swapmodel.live.table import render_agreement, summary

    known = (*samples.module_kinds(), *samples.tensor_kinds())
    for one in wanted:
        if one not in known:
            what = f"unknown class {one!r}"
            raise BadInput(what, "command line", nearest(one, known))

    def progress(one: Tally) -> None:
        for line in one.examples:
            click.echo(line)

    spec = load_spec(name or release()).id
    kinds = wanted or known
    found = agree(kinds, spec, processes=processes, share=share, progress=progress)
    if write:
        count = len(samples.module_kinds())
        tables = [("Modules", found[:count]), ("Tensors", found[count:])]
        page = specs_folder().parent / "docs" / "agreement.md"
        write_text(page, render_agreement(tables, release(), spec))
    click.echo(f"torch {release()} under {spec}: {summary(found)}")
    return DIFFERS if any(one.disagreed for one in found) else AGREES
