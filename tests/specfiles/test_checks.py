"""A spec that could not be run is refused when it is read."""

from pathlib import Path

import pytest

from swapmodel.specfiles.read import load_spec
from tests.specfiles.mine import Change, changed_spec, said

SET_DATA = (
    'set_data = ["compatible-type", "differentiable-dtype", '
    '"reset-accumulator", "copy-impl"]'
)
CONVERT = """\
    "call-fn",
    "compatible-type",
    "choose-path",
    "take-gradient",
    "convert",
"""


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            ('"copy-impl"', '"copy-imp"'),
            "unknown phase 'copy-imp' @ {file}:operations.set_data[3], "
            "write copy-impl or ",
        ),
        (
            ("set_data =", "set_dat ="),
            "unknown operation 'set_dat' @ {file}:operations.set_dat, "
            "write set_data or ",
        ),
        (
            ('"reset-accumulator", "copy-impl"', '"copy-impl", "copy-impl"'),
            "phase 'copy-impl' is named twice @ {file}:operations.set_data[3], "
            "name it once",
        ),
        (
            (
                '"compatible-type",\n    "choose-path"',
                '"choose-path",\n    "compatible-type"',
            ),
            "phase 'choose-path' reads 'applied', which is not there yet "
            "@ {file}:operations.convert_parameter[1], put compatible-type before it",
        ),
        (
            (SET_DATA, 'set_data = "copy-impl"'),
            "'copy-impl' is not an array of texts @ {file}:operations.set_data, "
            "write an array of texts",
        ),
        (
            (
                '"convert_parameter/data" = ["set-data"]',
                '"convert_parameter/data" = []',
            ),
            "operation 'convert_parameter/data' does not set 'out', which is read "
            'after it @ {file}:operations."convert_parameter/data", put set-data in it',
        ),
        (
            ('"could-not-swap"]', '"couldnt-swap"]'),
            "unknown phase 'couldnt-swap' @ "
            '{file}:refused."convert_parameter/swap"[1], write could-not-swap or ',
        ),
        (
            ('"convert_gradient/swap" = ["could', '"convert_gradient/data" = ["could'),
            "unknown operation 'convert_gradient/data' @ "
            '{file}:refused."convert_gradient/data", write ',
        ),
        (
            ('["swap-flag"]', '["swap-flags"]'),
            "unknown predicate 'swap-flags' @ {file}:choose.parameter[0].all[0], "
            "write swap-flag or ",
        ),
        (
            ('path = "assign"', 'path = "assigned"'),
            "unknown path 'assigned' @ {file}:choose.parameter[3].path, "
            "write assign or ",
        ),
        (
            ('path = "assign"', 'path = "assign"\nall = ["no-overwrite-flag"]'),
            "the last row has predicates @ {file}:choose.parameter[3].all, "
            "leave `all` out",
        ),
        (
            ('all = ["swap-flag"]', "all = []"),
            "a row after the one that always applies @ "
            "{file}:choose.parameter[1].path, put that one last",
        ),
        (
            ('path = "data"', 'path = "copy"'),
            "no parameter can take the path 'copy' @ {file}:choose.parameter[2].path, "
            "write ",
        ),
        (
            ("[[choose.gradient]]", "[[choose.buffer]]"),
            "unknown choice 'buffer' @ {file}:choose.buffer, write ",
        ),
        (
            ('"hook/no-grad"', '"hook/no-gradient"'),
            "unknown rule 'hook/no-gradient' @ {file}:messages.\"hook/no-gradient\", "
            "write hook/no-grad or ",
        ),
        (
            (SET_DATA, ""),
            "operation 'set_data' is missing @ {file}:operations, "
            "write set_data = [...]",
        ),
        (
            ("[messages]", "[message]"),
            "unknown key 'message' @ {file}:message, write messages or ",
        ),
        (
            ('"convert_gradient/data" = ["require-attached", "set-data"]', ""),
            "operation 'convert_gradient/data' is missing @ "
            '{file}:choose.gradient[1], write "convert_gradient/data" = [...]',
        ),
    ],
)
def test_what_could_not_be_run(tmp_path: Path, change: Change, line: str) -> None:
    """Each unknown name, wrong order or missing part has its line."""
    path = changed_spec(tmp_path, change)

    assert said(lambda: load_spec(str(path))).startswith(line.format(file=path))


def test_a_swap_path_needs_a_swap(tmp_path: Path) -> None:
    """A release without `swap_tensors` cannot have a path that calls it."""
    swap = '"convert_parameter/swap" = ["clear-gradient", "make-parameter", "swap"]\n'
    change = ('"convert_parameter/assign"', swap + '"convert_parameter/assign"')
    path = changed_spec(tmp_path, change, base="torch-2.1")

    line = said(lambda: load_spec(str(path)))

    assert "calls 'swap_tensors', which is missing" in line


def test_a_local_variable_that_no_phase_sets(tmp_path: Path) -> None:
    """A phase whose maker is left out names the maker."""
    short = CONVERT.replace('    "take-gradient",\n', "")
    path = changed_spec(tmp_path, (CONVERT, short))

    line = said(lambda: load_spec(str(path)))

    assert "phase 'convert' reads 'gradient'" in line
    assert line.endswith("put take-gradient before it")
