"""
What can be asked on the command line?

Every command exits with 0 as claimed, 2 refuted or refused, 3 undecided, 4 bad input;
1 is a crash of ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from swapmodel import __version__
from swapmodel.check import Checked, jobs, write_reports
from swapmodel.check import check as run_check
from swapmodel.commands.agree import agree_command
from swapmodel.commands.arguments import (
    limit_option,
    need_torch,
    once_each,
    processes_option,
    scopes_option,
)
from swapmodel.commands.claims import claims_command, progress
from swapmodel.commands.hunt import hunt_command
from swapmodel.commands.index import index_command
from swapmodel.commands.lookup import show_command, witness_command
from swapmodel.commands.necessity import necessity_command
from swapmodel.commands.recordings import record_command, replay_command
from swapmodel.outcomes import OutOfScope, Refused, Undefined
from swapmodel.report.explain import explain_program
from swapmodel.report.start import start_lines
from swapmodel.report.text import render_program
from swapmodel.report.verdicts import render_table, render_verdicts
from swapmodel.run import run as run_program
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.differences import known_under
from swapmodel.specfiles.read import load_spec, load_specs, release_ids
from swapmodel.specfiles.scenario import load_scenario, mismatches
from swapmodel.specfiles.schema import BadInput
from swapmodel.specfiles.scopes import scopes_of
from swapmodel.specfiles.write import write_text

AS_CLAIMED, CRASH, REFUTED, UNDECIDED, BAD_INPUT = range(5)

BUILD = Path("build")

THERE = click.Path(path_type=Path, exists=True)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit; what a user can mend is told in one line."""
    try:
        code = app.main(args, prog_name="swapmodel", standalone_mode=False) or 0
    except click.ClickException as error:
        code = _say(_usage(error))
    except BadInput as error:
        code = _say(str(error))
    except (KeyboardInterrupt, click.Abort):
        click.echo("swapmodel: interrupted", err=True)
        code = UNDECIDED
    except (BrokenPipeError, SystemExit):
        # A reader went away; click exits by itself then.
        code = REFUTED
    except OSError as error:
        code = _say(f"{error.strerror} @ {error.filename}, choose another path")
    sys.exit(code)


def _usage(error: click.ClickException) -> str:
    what = " ".join(error.format_message().split()).rstrip(".")
    command = getattr(getattr(error, "ctx", None), "command_path", "swapmodel")
    return f"{what} @ command line, see {command} --help"


def _say(line: str) -> int:
    click.echo(f"swapmodel: {line}", err=True)
    return BAD_INPUT


@click.group(
    no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__)
def app() -> None:
    """What PyTorch does to tensors when a module is converted or they are swapped."""


for one in (
    show_command,
    witness_command,
    hunt_command,
    necessity_command,
    claims_command,
    index_command,
    record_command,
    replay_command,
    agree_command,
):
    app.add_command(one)


# -- check ---------------------------------------------------------------------------


@app.command()
@click.argument("specs", nargs=-1, callback=once_each)
@scopes_option
@click.option(
    "--set", "name", type=click.Choice(["standard", "nightly"]), default="standard"
)
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--out", type=click.Path(path_type=Path), default=BUILD / "report")
@processes_option
@limit_option
def check(
    specs: tuple[str, ...],
    scopes: tuple[str, ...],
    name: str,
    json_file: Path | None,
    out: Path,
    processes: int,
    limit: float | None,
) -> int:
    """Search every scope under SPECS (all releases) and compare with the claims."""
    wanted = load_specs(specs or release_ids())
    todo = jobs(wanted, scopes or scopes_of(name), limit)
    for path in (out, *((json_file.parent,) if json_file else ())):
        _can_hold_files(path)
    scopes_told = "1 scope" if len(todo) == 1 else f"{len(todo)} scopes"
    click.echo(f"searching {scopes_told}", err=True)
    known = known_under(specs)
    checked = run_check(wanted, todo, known=known, processes=processes, told=progress)
    write_reports(checked, out)
    if json_file is not None:
        write_text(json_file, render_verdicts(checked.rows))
    _tell(checked, out)
    return checked.exit_code


def _can_hold_files(folder: Path) -> None:
    """Refuse a folder that cannot be written, before minutes of search."""
    there = folder
    while not there.exists():
        there = there.parent
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise BadInput("no folder to write to", str(there), "choose another path")


def _tell(checked: Checked, out: Path) -> None:
    judged = checked.rows
    for spec in checked.specs:
        click.echo(render_table([row for row in judged if row.spec == spec.id]))
    for row in judged:
        if not row.as_claimed:
            cause = f" [{row.cause}]" if row.cause else ""
            told = f"{row.spec}: {row.invariant} on path {row.path}{cause}"
            click.echo(f"{told} is claimed {row.claim}, found {row.verdict}")
            for line in row.program:
                click.echo(f"    {line}")
    beside = (*checked.unshown, *checked.miscounted, *checked.missed)
    for line in beside:
        click.echo(line)
    count = sum(row.verdict == "violated" for row in judged)
    unclaimed = sum(not row.as_claimed for row in judged) + len(beside)
    click.echo(
        f"{len(checked.specs)} specs, {count} causes, {unclaimed} not as claimed; "
        f"reports and scripts in {out}"
    )


# -- run -----------------------------------------------------------------------------


@app.command()
@click.argument("scenario", type=click.Path(path_type=Path))
@click.option("--spec", "name", help="Run it under this spec; else under its own.")
@click.option("--changed", is_flag=True, help="Leave out phases that change nothing.")
def run(scenario: Path, name: str | None, changed: bool) -> int:
    """Run SCENARIO and print the phases of every action with what each changed."""
    read = load_scenario(scenario)
    code = AS_CLAIMED
    for spec in (load_spec(one) for one in ([name] if name else read.specs[-1:])):
        click.echo(f"{read.claim}\nunder {spec.id}\n")
        told = explain_program(read.start, read.program, spec)
        let = start_lines(read.start)
        click.echo(render_program(let, told, every_phase=not changed))
        for line in mismatches(read, spec):
            click.echo(f"not as the scenario says: {line}")
            code = REFUTED
        code = max(code, _ended(read.start, read.program, spec))
    return code


def _ended(start, program, spec: Spec) -> int:  # type: ignore[no-untyped-def]
    outcomes = run_program(start, program, spec).outcomes
    if any(isinstance(one, OutOfScope) for one in outcomes):
        return UNDECIDED
    lost = any(isinstance(one, Refused | Undefined) for one in outcomes)
    return REFUTED if lost else AS_CLAIMED


# -- Real torch ----------------------------------------------------------------------


@app.command()
@click.argument("parts", nargs=-1, callback=once_each)
@click.option("--out", type=click.Path(path_type=Path), default=BUILD / "conform")
@processes_option
@click.option("--share", type=click.IntRange(1), default=1, help="Run one in SHARE.")
def conform(parts: tuple[str, ...], out: Path, processes: int, share: int) -> int:
    """Run programs in lockstep with the torch that is installed, PARTS or all."""
    need_torch()
    from swapmodel.conformance.conform import PARTS, Part
    from swapmodel.conformance.conform import conform as run_conform

    def tell_part(one: Part) -> None:
        tally, verdict = one.tally, "as claimed" if one.as_claimed else "NOT AS CLAIMED"
        click.echo(
            f"{one.id} under {one.spec}: {tally.programs} programs, "
            f"{tally.actions} actions, {tally.diverging} divergences, {verdict}"
        )

    summary = out / "summary.json"
    found = run_conform(
        parts or PARTS,
        processes=processes,
        share=share,
        progress=tell_part,
        out=summary,
    )
    click.echo(f"torch {found.torch}; summary in {summary}")
    return AS_CLAIMED if found.as_claimed else REFUTED


@app.command()
@click.argument("scripts", nargs=-1, type=THERE, callback=once_each)
@click.option("--spec", "names", multiple=True, default=("torch-2.13",))
@processes_option
def confirm(scripts: tuple[Path, ...], names: tuple[str, ...], processes: int) -> int:
    """Run the SCRIPTS of counterexamples on the torch that is installed."""
    need_torch()
    from swapmodel.conformance.confirm import Confirmed
    from swapmodel.conformance.confirm import confirm as run_confirm

    def tell_script(one: Confirmed) -> None:
        click.echo(f"{one.confirmation:<10} {one.script.name}")
        if one.confirmation == "refuted":
            click.echo(one.output)

    if not scripts:
        specs = load_specs(names)
        todo = jobs(specs, scopes_of("standard"))
        checked = run_check(specs, todo, processes=processes, told=progress)
        write_reports(checked, BUILD / "report")
        folders = [BUILD / "report" / "scripts" / spec.id for spec in specs]
        scripts = tuple(p for one in folders for p in sorted(one.glob("*.py")))
    found = run_confirm(scripts, jobs=processes, progress=tell_script)
    count = sum(one.confirmation == "reproduced" for one in found)
    click.echo(f"{count} of {len(found)} scripts reproduced")
    return AS_CLAIMED if count == len(found) else REFUTED
