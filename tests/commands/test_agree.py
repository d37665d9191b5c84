"""`swapmodel agree`."""

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

from swapmodel.commands.agree import agree_command  # noqa: E402
from swapmodel.specfiles.schema import BadInput  # noqa: E402

pytestmark = pytest.mark.torch


def run(*args: str) -> tuple[int, str]:
    """Exit code and output."""
    found = CliRunner().invoke(
        agree_command, [*args, "--processes", "1"], standalone_mode=False
    )
    if found.exception is not None:
        raise found.exception
    return found.return_value, found.output


def test_agrees() -> None:
    """A class on which both agree is one line, and no fault."""
    code, output = run("nn.Linear", "--share", "24")

    assert code == 0
    assert output == (
        f"torch {torch.__version__.partition('+')[0]} under torch-2.13: "
        "1 classes, 3 instances, 3 conversions: 3 agree, 0 declined, 0 disagree\n"
    )


def test_disagrees() -> None:
    """Disagreements are told, and the exit code is that of something refuted."""
    code, output = run("nn.Linear", "--spec", "torch-2.1", "--share", "7")

    assert code == 2
    assert "in the model, 'swap' in torch" in output


def test_unknown_class() -> None:
    """A class that torch does not list is answered with the nearest one."""
    with pytest.raises(BadInput, match=r"unknown class 'nn.Linaer' @ command line"):
        run("nn.Linaer")


def test_part_of_a_table() -> None:
    """The page is written whole or not at all."""
    with pytest.raises(BadInput, match="a part of a table"):
        run("nn.Linear", "--write")


def test_without_expecttest(monkeypatch: pytest.MonkeyPatch) -> None:
    """What torch's tests need is named."""
    monkeypatch.setattr("swapmodel.commands.agree.NEEDED", ("no_such_library",))

    with pytest.raises(BadInput, match="no_such_library is not installed"):
        run()
