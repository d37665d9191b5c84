"""
How would the claims have to change?
"""

from __future__ import annotations

from difflib import unified_diff

import click

from swapmodel.check import check, jobs
from swapmodel.commands.arguments import once_each, processes_option
from swapmodel.search.explore import Exploration
from swapmodel.specfiles.claims import patch, propose, replace
from swapmodel.specfiles.differences import differing
from swapmodel.specfiles.files import shown_path
from swapmodel.specfiles.goals import FILE, goals_text
from swapmodel.specfiles.read import load_specs, release_ids, spec_file
from swapmodel.specfiles.schema import BadInput
from swapmodel.specfiles.scopes import scopes_of
from swapmodel.specfiles.write import write_text

AS_CLAIMED, NOT_AS_CLAIMED, UNDECIDED = 0, 2, 3


@click.command("claims")
@click.argument("proposals", nargs=-1, callback=once_each)
@click.option("--propose", "show", is_flag=True, help="Print the changes as a patch.")
@click.option("--write", is_flag=True, help="Make the changes.")
@processes_option
def claims_command(
    proposals: tuple[str, ...], show: bool, write: bool, processes: int
) -> int:
    """
    Search everything and say how the claims would have to change.

    With PROPOSALS: what each has to list as different from its base.
    """
    specs = load_specs(proposals or release_ids())
    for one in specs:
        if proposals and one.base is None:
            raise BadInput(f"{one.id} extends nothing", "command line", "leave it out")
    todo = jobs(specs, scopes_of("standard"))
    checked = check(specs, todo, processes=processes, told=progress)
    if any(not one.complete for one in checked.explorations):
        click.echo("swapmodel: some searches did not end, nothing proposed", err=True)
        return UNDECIDED
    if proposals:
        texts = {name: differing(name, checked.counterexamples) for name in proposals}
        difference = "".join(_patch(name, text) for name, text in texts.items())
        if write:
            for name, text in texts.items():
                write_text(spec_file(name), text)
    else:
        proposed = propose(checked.counterexamples)
        proposed[FILE] = goals_text(checked.explorations)
        difference = patch(proposed)
        if write:
            replace(proposed)
    if show and not write:
        click.echo(difference, nl=False)
    return NOT_AS_CLAIMED if difference and not write else AS_CLAIMED


def _patch(name: str, text: str) -> str:
    path = spec_file(name)
    old = path.read_text(encoding="utf-8").splitlines(keepends=True)
    told = shown_path(path)
    return "".join(unified_diff(old, text.splitlines(keepends=True), told, told))


def progress(scope: str, explorations: tuple[Exploration, ...]) -> None:
    """Say on the error stream that the searches of a scope have ended."""
    heaps = sum(one.heaps for one in explorations)
    ended = "" if all(one.complete for one in explorations) else ", not to the end"
    click.echo(f"searched {scope}: {heaps} heaps{ended}", err=True)
