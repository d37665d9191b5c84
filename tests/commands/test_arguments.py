"""What every command refuses of its arguments."""

import click
import pytest
from click.testing import CliRunner

from swapmodel.commands.arguments import limit_option, scopes_option


@click.command()
@scopes_option
@limit_option
def command(scopes: tuple[str, ...], limit: float | None) -> None:
    click.echo(f"{scopes} {limit}")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--scope", "a", "--scope", "a"], "'a' is named twice, name it once"),
        (["--limit", "nan"], "nan is no number of seconds"),
        (["--limit", "inf"], "inf is no number of seconds"),
        (["--limit", "-0.1"], "not in the range"),
    ],
)
def test_refused(args: list[str], said: str) -> None:
    """What is named twice, or no time to wait, is bad usage."""
    told = CliRunner().invoke(command, args)

    assert told.exit_code == 2
    assert said in told.output


def test_taken() -> None:
    """Each scope once, in the order given, and any number of seconds."""
    told = CliRunner().invoke(
        command, ["--scope", "b", "--scope", "a", "--limit", "0.5"]
    )

    assert told.output == "('b', 'a') 0.5\n"
