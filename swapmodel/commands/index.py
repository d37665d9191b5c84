"""
Are the generated tables what the data say?
"""

from __future__ import annotations

import click

from swapmodel.specfiles.files import specs_folder
from swapmodel.specfiles.index import generated
from swapmodel.specfiles.write import write_texts

FRESH, STALE = 0, 2


@click.command("index")
@click.option("--check", "only_check", is_flag=True, help="Write nothing.")
def index_command(only_check: bool) -> int:
    """Write every generated file again, or say which one is stale."""
    root = specs_folder().parent
    stale = {
        name: text
        for name, text in generated().items()
        if not (root / name).is_file()
        or (root / name).read_text(encoding="utf-8") != text
    }
    if not only_check:
        write_texts(root, stale)
    for name in stale:
        click.echo(f"{'stale' if only_check else 'written'}: {name}")
    return STALE if stale and only_check else FRESH
