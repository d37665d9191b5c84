"""
What does every command refuse of its arguments, and of where it runs?
"""

from __future__ import annotations

import importlib.util
from math import isfinite
from typing import TypeVar

import click

from swapmodel.specfiles.schema import BadInput

V = TypeVar("V")


def once_each(
    context: click.Context, parameter: click.Parameter, values: tuple[V, ...]
) -> tuple[V, ...]:
    """Refuse what is named twice: it would be run, and counted, twice."""
    for index, value in enumerate(values):
        if value in values[:index]:
            raise click.BadParameter(f"'{value}' is named twice, name it once")
    return values


def seconds(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    """Refuse what no clock ever shows: it would never end, or end at once."""
    if value is not None and not isfinite(value):
        raise click.BadParameter(f"{value} is no number of seconds")
    return value


scopes_option = click.option(
    "--scope",
    "scopes",
    multiple=True,
    callback=once_each,
    help="Search this scope alone.",
)

processes_option = click.option("--processes", type=click.IntRange(1, 64), default=2)

limit_option = click.option(
    "--limit",
    type=click.FloatRange(0),
    callback=seconds,
    help="Seconds for each search.",
)


def need_torch() -> None:
    """Refuse to go on where no torch is installed."""
    if importlib.util.find_spec("torch") is None:
        instead = "pip install torch==2.13.0"
        raise BadInput("torch is not installed", "this Python", instead)
