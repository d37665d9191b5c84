"""
What do long random programs break that is not listed yet?
"""

from __future__ import annotations

from pathlib import Path
from typing import cast, get_args

import click

from swapmodel.report.explain import explain
from swapmodel.report.script import script
from swapmodel.report.text import render_explanation
from swapmodel.report.verdicts import stem
from swapmodel.run import Counterexample
from swapmodel.search.hunt import Profile, hunt, under_every_flag
from swapmodel.search.machine import Starts
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.claims import known_causes
from swapmodel.specfiles.read import load_spec, release_ids
from swapmodel.specfiles.scopes import load_scope, scope_specs, scopes_of
from swapmodel.specfiles.write import scenario_text, write_text

NOTHING_NEW, FOUND = 0, 2


@click.command("hunt")
@click.argument("name", required=False)
@click.option("--profile", type=click.Choice(get_args(Profile)), default="dev")
@click.option("--most", type=click.IntRange(1), help="Stop after so many causes.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("build") / "hunt")
@click.option(
    "--save", type=click.Path(path_type=Path), help="Keep scenarios in this folder."
)
def hunt_command(
    name: str | None, profile: str, most: int | None, out: Path, save: Path | None
) -> int:
    """Run long random programs under SPEC (the newest release) and tell what is new."""
    spec = load_spec(name or release_ids()[-1])
    known = [one.cause for one in known_causes() if {spec.id, spec.base} & {*one.specs}]
    count = 0
    for one in hunt(spec, _starts(spec), known, profile=cast(Profile, profile)):
        count += 1
        _tell(one, spec, out, save)
        if count == most:
            break
    click.echo(f"{count} causes under {spec.id} that no claim lists; files in {out}")
    return FOUND if count else NOTHING_NEW


def _starts(spec: Spec) -> Starts:
    """The start heaps of every scope, under every setting of the flags."""
    return under_every_flag(
        (f"{name}/{start}", heap)
        for name in scopes_of("standard")
        if {spec.id, spec.base} & {*scope_specs(name)}
        for start, heap in load_scope(name).starts
    )


def _tell(one: Counterexample, spec: Spec, out: Path, save: Path | None) -> None:
    name = stem(one.cause, one.spec).replace("/", "-")
    scenario = out / f"{name}.toml"
    text = scenario_text(one, spec, [one.spec])
    write_text(scenario, text)
    write_text(out / f"{name}.py", script(one, spec))
    if save is not None:
        write_text(save / f"{name}.toml", text)
    replay = f"swapmodel run {scenario} --spec {spec.id}"
    click.echo(render_explanation(explain(one, spec, replay)))
