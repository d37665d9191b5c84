"""
Which phases of a spec matter, and which does nothing show?
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context

import click

from swapmodel.commands.arguments import once_each, processes_option, scopes_option
from swapmodel.necessity import (
    Base,
    Change,
    base,
    changes,
    noticed,
    telling,
    unobservable,
    unwitnessed,
)
from swapmodel.semantics.spec import Spec
from swapmodel.specfiles.read import load_spec, release_ids
from swapmodel.specfiles.schema import BadInput
from swapmodel.specfiles.scopes import load_scope, scope_specs, scopes_of

AS_LISTED, NOT_AS_LISTED = 0, 2


@click.command("necessity")
@click.argument("name", required=False)
@click.option(
    "--operation",
    "only",
    multiple=True,
    callback=once_each,
    help="Change this one alone.",
)
@scopes_option
@processes_option
def necessity_command(
    name: str | None, only: tuple[str, ...], scopes: tuple[str, ...], processes: int
) -> int:
    """Change every phase of SPEC (the newest release) and say what shows it."""
    spec = load_spec(name or release_ids()[-1])
    todo = [one for one in changes(spec) if not only or one.operation in only]
    if not todo:
        what = f"{spec.id} has no phases of {', '.join(only) or 'any operation'}"
        raise BadInput(what, "command line", f"see swapmodel show spec {spec.id}")
    listed, code, silent = unobservable(), AS_LISTED, 0
    judged = _judged(todo, spec, scopes, processes)
    for one, found in zip(todo, judged, strict=True):
        reason = listed.get(one.told, "")
        silent += not found
        if bool(found) != bool(reason):
            click.echo(f"{one.told}: {found or 'nothing shows it'}")
        else:
            wrong = "listed as unobservable" if found else "not listed"
            click.echo(f"{one.told}: {found or 'nothing shows it'}, {wrong}")
            code = NOT_AS_LISTED
    click.echo(f"{len(todo)} changes of {spec.id}, {silent} that nothing shows")
    return code


def _judged(
    todo: Sequence[Change],
    spec: Spec,
    scopes: Sequence[str],
    processes: int,
) -> list[str]:
    """What shows each change: a witness, unless scopes are given, or a search."""
    names = sorted(
        scopes or _scopes(spec), key=lambda one: len(load_scope(one).actions)
    )
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        found = [""] * len(todo) if scopes else [*pool.map(unwitnessed, todo)]
        left = [number for number, one in enumerate(found) if not one]
        changed = tuple(todo[number] for number in left)
        told = [*pool.map(partial(_telling, spec, changed), names)]
        where = (
            tuple(name for name, row in zip(names, told, strict=True) if row[at])
            for at in range(len(left))
        )
        judged = pool.map(partial(_judge, spec), changed, where)
        for number, one in zip(left, judged, strict=True):
            found[number] = one
    return found


def _scopes(spec: Spec) -> tuple[str, ...]:
    wanted = {spec.id, spec.base}
    return tuple(one for one in scopes_of("standard") if wanted & {*scope_specs(one)})


def _telling(spec: Spec, changed: tuple[Change, ...], name: str) -> tuple[bool, ...]:
    return telling(load_scope(name), spec, changed)


@cache
def _base(spec: Spec, name: str) -> Base:
    return base(load_scope(name), spec)


def _judge(spec: Spec, change: Change, names: tuple[str, ...]) -> str:
    return noticed(change, (_base(spec, name) for name in names))
