"""
What can be looked up on the command line: a rule, an invariant, a spec, a witness?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import click
from attrs import frozen

from swapmodel.actions import Program
from swapmodel.commands.arguments import scopes_option
from swapmodel.invariants.catalogue import INVARIANTS
from swapmodel.invariants.violation import Invariant, Step
from swapmodel.outcomes import OutOfScope, Refused
from swapmodel.report.explain import explain_program
from swapmodel.report.lookup import (
    difference_lines,
    invariant_lines,
    rule_lines,
    spec_lines,
)
from swapmodel.report.start import start_lines
from swapmodel.report.text import render_program
from swapmodel.run import run
from swapmodel.search.scope import Scope
from swapmodel.search.witness import Asked, witness
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.read import load_spec, release_ids
from swapmodel.specfiles.rules import invariants, rules
from swapmodel.specfiles.scenario import load_scenario
from swapmodel.specfiles.schema import BadInput, nearest
from swapmodel.specfiles.scopes import load_scope, scope_specs, scopes_of
from swapmodel.state.heap import Heap

R = TypeVar("R")

FOUND, NOT_FOUND = 0, 2


@click.command("show")
@click.argument("kind", type=click.Choice(["rule", "invariant", "spec"]))
@click.argument("name")
@click.option("--against", help="Tell how a spec differs from this one.")
def show_command(kind: str, name: str, against: str | None) -> int:
    """Tell what there is to know of a rule, an invariant or a spec."""
    if against is not None and kind != "spec":
        what = f"--against compares specs, not {kind}s"
        raise BadInput(what, "command line", "leave it out")
    if kind == "rule":
        lines = rule_lines(_entry(rules(), name, "rule"))
    elif kind == "invariant":
        lines = invariant_lines(_entry(invariants(), name, "invariant"))
    elif against is None:
        lines = spec_lines(load_spec(name))
    else:
        lines = difference_lines(load_spec(name), load_spec(against))
    for line in lines:
        click.echo(line)
    return FOUND


def _entry(table: Mapping[str, R], name: str, kind: str) -> R:
    if name not in table:
        what = f"unknown {kind} {name!r}"
        raise BadInput(what, "command line", nearest(name, table))
    return table[name]


# -- Witnesses -----------------------------------------------------------------------


@frozen
class Shown:
    """A program, and where it comes from."""

    source: str
    start: Heap
    program: Program


@click.command("witness")
@click.argument("name")
@click.option("--spec", "spec_name", help="Under this spec; else the newest release.")
@scopes_option
def witness_command(name: str, spec_name: str | None, scopes: tuple[str, ...]) -> int:
    """Show the shortest programs where a rule or an invariant fires and holds."""
    spec = load_spec(spec_name or release_ids()[-1])
    fires = _question(name)
    ranged = [load_scope(one) for one in scopes or scopes_of("standard")]
    if not scopes:
        ranged = [
            one for one in ranged if {*scope_specs(one.id)} & {spec.id, spec.base}
        ]
    found = _fires(ranged, spec, fires, anywhere=not scopes)
    if found is None:
        click.echo(f"{name} does not fire in any program looked at under {spec.id}")
        return NOT_FOUND
    click.echo(_told(f"{name} fires under {spec.id}", found, spec))
    other = _holds(ranged, spec, fires, found)
    if other is None:
        kind = type(found.program[-1]).__name__
        click.echo(f"{name} fires on every {kind} that was looked at")
        return FOUND
    click.echo(_told(f"{name} does not fire under {spec.id}", other, spec))
    return FOUND


def _holds(scopes: list[Scope], spec: Spec, asked: Asked, found: Shown) -> Shown | None:
    """The shortest program that ends in the same action, or in one of its kind."""
    last = found.program[-1]
    beside = [one for one in scopes if f"scope {one.id}" == found.source]
    other = witness(beside, spec, lambda one: one.action == last and not asked(one))
    if other is None:
        kind = type(last)
        other = witness(
            scopes, spec, lambda one: type(one.action) is kind and not asked(one)
        )
    if other is None:
        return None
    return Shown(f"scope {other.scope}", other.heap, other.program)


def _question(name: str) -> Asked:
    """Whether a step breaks an invariant, or is refused by a rule."""
    by_id: dict[str, Invariant] = {one.id: one for one in INVARIANTS}
    if name in by_id:
        check = by_id[name].check
        return lambda one: any(True for _ in check(one))
    _entry({**rules(), **by_id}, name, "rule or invariant")
    return lambda one: name in _refused_by(one)


def _refused_by(one: Step) -> tuple[str, ...]:
    if not isinstance(one.outcome, Refused):
        return ()
    refusal = one.outcome.refusal
    return (refusal.rule, *(inner.rule for inner in refusal.within))


def _fires(
    scopes: list[Scope], spec: Spec, asked: Asked, *, anywhere: bool
) -> Shown | None:
    """The shortest program of the scopes; if there is none, of the scenarios."""
    found = witness(scopes, spec, asked)
    if found is not None:
        return Shown(f"scope {found.scope}", found.heap, found.program)
    if not anywhere:
        return None
    shown = list(_in_scenarios(spec, asked))
    return min(shown, key=lambda one: len(one.program), default=None)


def _in_scenarios(spec: Spec, asked: Asked) -> Iterator[Shown]:
    folder = specs_folder() / "scenarios"
    for path in sorted(folder.rglob("*.toml")):
        read = load_scenario(path)
        if not {spec.id, spec.base} & {*read.specs}:
            continue
        trace = run(read.start, read.program, spec)
        for number, outcome in enumerate(trace.outcomes):
            if isinstance(outcome, OutOfScope):
                break
            action = read.program[number]
            if asked(Step(trace.heaps[number], action, outcome, spec)):
                program = read.program[: number + 1]
                yield Shown(_named(path, folder), read.start, program)
                break


def _named(path: Path, folder: Path) -> str:
    return f"specs/scenarios/{path.relative_to(folder).as_posix()}"


def _told(title: str, one: Shown, spec: Spec) -> str:
    let = start_lines(one.start)
    happened = explain_program(one.start, one.program, spec)
    told = render_program(let, happened, every_phase=False)
    return f"{title} ({one.source})\n\n{told}"
