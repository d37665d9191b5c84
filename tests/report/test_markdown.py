"""How an explanation reads in a thread."""

from swapmodel.report.explain import explain
from swapmodel.report.markdown import pictures_of, render_markdown
from swapmodel.specfiles.read import load_spec
from tests.report import examples


def test_markdown() -> None:
    """Program, promise, phases and pictures are those of the golden file."""
    one = examples.torn_by_view()
    spec = load_spec(one.spec)
    told = explain(one, spec, "python torn_by_view.py")

    examples.assert_golden(
        "torn_by_view.md.txt", render_markdown(told, pictures_of(one, spec))
    )


def test_pictures_can_be_left_out() -> None:
    """Without pictures the rest is there."""
    one = examples.lost_attribute()
    told = explain(one, load_spec(one.spec), "python lost_attribute.py")

    assert "mermaid" not in render_markdown(told)
