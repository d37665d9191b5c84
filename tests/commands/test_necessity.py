"""`swapmodel necessity`, from the command line."""

import pytest

from swapmodel.commands import necessity
from swapmodel.necessity import Base, Change, base, noticed
from tests.commands.test_lookup import run
from tests.test_necessity import SCOPE, SPEC


@pytest.fixture
def _one_small_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge by one small scope, in this process."""
    known: list[Base] = [base(SCOPE, SPEC)]

    def judged(todo: list[Change], *_: object) -> list[str]:
        return [noticed(one, known) for one in todo]

    monkeypatch.setattr(necessity, "_judged", judged)


@pytest.mark.usefixtures("_one_small_scope")
def test_what_shows_each_change(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nothing shows and the list names is as listed."""
    listed = {
        "copy_rnn without require-weakrefs": "No class is copied here.",
        "copy_rnn without refresh-flat-weights": "Nor here.",
        "copy_rnn with refresh-flat-weights before require-weakrefs": "Nor here.",
    }
    monkeypatch.setattr(necessity, "unobservable", lambda: listed)

    code, out, _ = run(capsys, "necessity", "--operation", "copy_rnn")

    assert code == 0
    assert "copy_rnn without require-weakrefs: nothing shows it\n" in out
    assert out.endswith("3 changes of torch-2.13, 3 that nothing shows\n")


@pytest.mark.usefixtures("_one_small_scope")
def test_what_is_not_as_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that shows must not be listed, and one that does not must be."""
    listed = {"swap_tensors without move-impl": "It does show."}
    monkeypatch.setattr(necessity, "unobservable", lambda: listed)

    code, out, _ = run(capsys, "necessity", "--operation", "swap_tensors")

    assert code == 2
    told = dict(line.split(": ", 1) for line in out.splitlines()[:-1])
    assert told["swap_tensors without move-impl"].endswith(", listed as unobservable")
    slots = "swap_tensors without move-slots"
    assert told[slots] == "nothing shows it, not listed"
    assert told["swap_tensors without no-weakrefs"].startswith("gone: ")


def test_in_processes_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Each process knows what a scope says of the spec as it is."""
    asked = ("--operation", "convert_buffer", "--scope", "skeleton-module")

    code, out, _ = run(capsys, "necessity", *asked)

    assert code == 0
    shown = "convert_buffer without replace: new: values replace buffer since "
    assert shown in out
    assert out.endswith("3 changes of torch-2.13, 0 that nothing shows\n")
