"""
Which phases of a spec matter, and which does nothing show?
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import click

from swapmodel.commands.arguments import once_each, processes_option, scopes_option
from swapmodel.necessity import Base, Change, base, changes, noticed, unobservable
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
    judged = _judged(todo, spec, scopes or _scopes(spec), processes)
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
    todo: Sequence[Change], spec: Spec, names: Sequence[str], processes: int
) -> Iterator[str]:
    context = get_context("spawn")
    with ProcessPoolExecutor(processes, context) as pool:
        found = [*pool.map(partial(_base, spec), names)]
    bases = sorted(found, key=lambda one: len(one.scope.actions))
    with ProcessPoolExecutor(
        processes, context, initializer=_know, initargs=(bases,)
    ) as pool:
        yield from pool.map(_judge, todo)


def _scopes(spec: Spec) -> tuple[str, ...]:
    wanted = {spec.id, spec.base}
    return tuple(one for one in scopes_of("standard") if wanted & {*scope_specs(one)})


_BASES: list[Base] = []
"""In a process of the pool: what every scope says of the spec as it is."""


def _know(bases: Sequence[Base]) -> None:
    _BASES.extend(bases)


def _base(spec: Spec, name: str) -> Base:
    return base(load_scope(name), spec)


def _judge(change: Change) -> str:
    return noticed(change, _BASES)
