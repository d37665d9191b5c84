"""`swapmodel show` and `swapmodel witness`, from the command line."""

import pytest

from swapmodel.cli import main


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    """The exit code of a command and what it prints."""
    with pytest.raises(SystemExit) as ended:
        main(args)
    told = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, told.out, told.err


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (("rule", "swap/few-owners"), "swap/few-owners"),
        (("invariant", "hooks"), "hooks"),
        (("spec", "2.5.1"), "torch-2.4"),
        (("spec", "torch-2.4", "--against", "2.3"), "torch-2.4 against torch-2.3"),
    ],
)
def test_show(
    args: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first line names what is told; a release finds its group."""
    code, out, _ = run(capsys, "show", *args)

    assert code == 0
    assert out.splitlines()[0] == line


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (("show", "rule", "swap/few-owner"), "unknown rule 'swap/few-owner'"),
        (("show", "invariant", "hook"), "unknown invariant 'hook'"),
        (("show", "spec", "torch-3"), "unknown spec 'torch-3'"),
        (("show", "spec", "torch-2.4", "--against", "gone"), "unknown spec 'gone'"),
        (("show", "rule", "swap/poison", "--against", "2.3"), "compares specs"),
        (("show", "thing", "x"), "'thing' is not one of"),
        (("witness", "swap/few-owner"), "unknown rule or invariant"),
        (("witness", "hooks", "--spec", "gone"), "unknown spec 'gone'"),
        (("witness", "hooks", "--scope", "gone"), "unknown scope 'gone'"),
    ],
)
def test_bad_input(
    args: tuple[str, ...], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and exit code 4."""
    code, out, err = run(capsys, *args)

    assert (code, out) == (4, "")
    assert what in err
    assert err.count("\n") == 1


def test_witness_of_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    """Two programs that end in one action: refused in the one, not in the other."""
    code, out, _ = run(
        capsys, "witness", "swap/no-weakrefs", "--scope", "object-swap-3"
    )

    assert code == 0
    fires, holds = out.split("does not fire")
    assert "refused by [swap/no-weakrefs]" in fires
    assert "refused by" not in holds
    assert "torch.utils.swap_tensors(m0.w, m1.w)" in fires
    assert "1. torch.utils.swap_tensors(m0.w, m1.w)" in holds


def test_witness_of_an_invariant(capsys: pytest.CaptureFixture[str]) -> None:
    """The program that breaks it, and the same action where it does not."""
    code, out, _ = run(capsys, "witness", "hooks", "--scope", "skeleton-plain")

    assert code == 0
    assert out.count("torch.utils.swap_tensors(m.weight, p)") == 2
    assert "1. m.weight.register_hook" in out


def test_a_rule_that_scenarios_alone_show(capsys: pytest.CaptureFixture[str]) -> None:
    """What no scope reaches is looked for among the scenarios."""
    code, out, _ = run(capsys, "witness", "swap/no-weakrefs", "--spec", "2.3.0")

    assert code == 0
    assert "fires under torch-2.3 (" in out


def test_what_does_not_fire(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and a line that says what was looked at."""
    code, out, _ = run(
        capsys, "witness", "swap/no-weakrefs", "--spec", "torch-2.1", *_small()
    )

    assert code == 2
    assert out == (
        "swap/no-weakrefs does not fire in any program looked at under torch-2.1\n"
    )


def _small() -> tuple[str, ...]:
    return ("--scope", "skeleton-module")
