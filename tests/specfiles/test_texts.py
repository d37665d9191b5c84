"""A refusal is told in torch's words."""

from pathlib import Path

import pytest

from swapmodel.outcomes import Refusal
from swapmodel.specfiles.read import load_spec, spec_ids
from swapmodel.specfiles.rules import rules
from swapmodel.specfiles.texts import FACTS, FIELD, says, text_of
from tests.specfiles.mine import said


@pytest.mark.parametrize(
    ("spec", "refusal", "text"),
    [
        (
            "torch-2.3",
            Refusal("swap/one-owner", "t2", (("count", 2),)),
            "Expected single reference to b's Tensor object but got 2",
        ),
        (
            "torch-2.13",
            Refusal("swap/no-impl-weakrefs", "t1", (("count", 1),)),
            "Expected no weakrefs to t1's Tensor object but got  1",
        ),
        (
            "torch-2.4",
            Refusal("convert/could-not-swap", "w", (("module", "L"), ("key", "w"))),
            "_apply(): Couldn't swap L.w",
        ),
        ("torch-2.4", Refusal("convert/not-a-leaf"), ""),
        ("torch-2.13", Refusal("convert/not-a-leaf"), "param must be a leaf tensor"),
        ("torch-2.1", Refusal("swap/same-slots"), None),
    ],
)
def test_texts(spec: str, refusal: Refusal, text: str | None) -> None:
    """What the refusal knows is filled in; a rule that a spec lacks has no text."""
    assert text_of(load_spec(spec), refusal) == text


def test_spellings() -> None:
    """Torch spells one dtype in two ways in one text."""
    refusal = Refusal(
        "grad/dtype", facts=(("dtype", "float64"), ("expected", "float32"))
    )
    old = text_of(load_spec("2.9.1"), refusal)
    new = text_of(load_spec("2.13.0"), refusal)

    assert old is not None
    assert new is not None
    assert "dtype 'double' to a tensor with dtype 'float'." in old
    assert "dtype 'double' to a tensor with grad_dtype 'Float'." in new


def test_what_the_model_does_not_know() -> None:
    """Three points stand for anything, line ends included."""
    assert says("a ... c", "a b\nb c")
    assert says("a.c", "a.c")
    assert not says("a.c", "abc")
    assert not says("a ... c", "a b d")


@pytest.mark.parametrize("name", spec_ids())
def test_every_spec_has_its_texts(name: str) -> None:
    """What a spec can refuse has a text, and loading refuses unknown fields."""
    spec = load_spec(name)
    texts = dict(spec.messages)
    later = (
        *("swap/", "convert/could-not-swap"),
        *("backward/poisoned", "module/weakrefs-lost", "convert/hint"),
    )
    general = {one for one, rule in rules().items() if rule.raises}

    assert {one for one in general if not one.startswith(later)} <= texts.keys()


def test_every_fact_is_told() -> None:
    """What a text may ask for is what some text asks for."""
    texts = [text for one in spec_ids() for _, text in load_spec(one).messages]

    assert {name for text in texts for name, _ in FIELD.findall(text)} == {*FACTS}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "{count:bogus}",
            "unknown spelling 'bogus' @ {file}:messages.\"swap/few-owners\", write ",
        ),
        ("a {cuont} b", "unknown fact 'cuont' @ {file}:messages.\"swap/few-owners\""),
        ("{count:}{bogus:letter}", "unknown fact 'bogus' @ "),
    ],
)
def test_what_no_refusal_tells(tmp_path: Path, text: str, line: str) -> None:
    """A text of a proposal that asks for what nothing tells is refused when read."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'id = "mine"\nextends = "torch-2.13"\nstatement = "Mine."\n'
        f'[messages]\n"swap/few-owners" = "{text}"\n',
        encoding="utf-8",
    )

    told = said(lambda: load_spec(str(path)))

    assert told.startswith(line.replace("{file}", str(path)))
