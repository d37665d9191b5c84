"""What came to torch and went again is asked for before it is used."""

import pytest

torch = pytest.importorskip("torch")

from swapmodel.actions import SetFlag, Write  # noqa: E402
from swapmodel.conformance import abilities  # noqa: E402
from swapmodel.conformance.observation import FIELDS  # noqa: E402
from swapmodel.specfiles.read import load_spec  # noqa: E402
from tests.heaps import module  # noqa: E402

pytestmark = [pytest.mark.torch]


def test_the_release_has_a_spec() -> None:
    """It is a number, without what the build adds to it."""
    assert torch.__version__.startswith(abilities.release())
    assert abilities.release() in load_spec(abilities.release()).measured


def test_a_release_without_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither heaps nor actions that turn it on; everything else."""
    assert abilities.lacks(SetFlag("swap", True)) is None
    assert abilities.lacks(module(swap=True)) is None
    name = "_swap_module_params_on_conversion"
    for verb in ("set", "get"):
        monkeypatch.delattr(torch.__future__, f"{verb}{name}")

    assert not abilities.flag("swap")
    assert not abilities.has_flag("swap")
    assert abilities.has_flag("overwrite")
    assert abilities.lacks(SetFlag("swap", False)) is not None
    assert abilities.lacks(module(swap=True)) is not None
    assert abilities.lacks(SetFlag("overwrite", True)) is None
    assert abilities.lacks(module(overwrite=True)) is None
    assert abilities.lacks(Write("t")) is None


def test_flags_are_read() -> None:
    """Both as they were set."""
    torch.__future__.set_swap_module_params_on_conversion(True)
    seen = abilities.flag("swap"), abilities.flag("overwrite")
    torch.__future__.set_swap_module_params_on_conversion(False)

    assert seen == (True, False)
    assert not abilities.flag("swap")


def test_use_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that does not tell them leaves its column out."""
    assert abilities.use_count(torch.ones(2)) == 1
    assert abilities.unseen() == ()
    monkeypatch.setattr(abilities, "_USE_COUNT", None)

    assert abilities.use_count(torch.ones(2)) is None
    assert set(abilities.unseen()) < set(FIELDS)


def test_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 2.5 nothing is one."""
    buffer = torch.nn.Buffer(torch.ones(2))

    assert abilities.has_buffers()
    assert abilities.is_buffer(buffer)
    assert not abilities.is_buffer(torch.ones(2))
    monkeypatch.setattr(abilities, "_BUFFER", None)

    assert not abilities.has_buffers()
    assert not abilities.is_buffer(buffer)
