"""The neighbourhood of a place as a graph."""

from swapmodel.actions import Forward, RegisterHook, TakeWeakref, View
from swapmodel.report.diagram import diagram
from swapmodel.run import run
from swapmodel.specfiles.read import load_spec
from tests.report import examples


def test_owners_hooks_and_weak_references_are_drawn() -> None:
    """What owns an impl, what fires for it and what only refers to it is there."""
    program = (
        RegisterHook("p", "h"),
        View("p", "v"),
        Forward("square", "p", "y"),
        TakeWeakref("_WeakTensorRef", "p", "r"),
        TakeWeakref("ReferenceType", "p", "s"),
    )
    heap = run(examples.wrapper_heap(), program, load_spec("torch-2.13")).heaps[-1]

    examples.assert_golden("owned.mmd", diagram(heap, "p"))


def test_a_place_that_leads_nowhere() -> None:
    """The graph says so instead of being empty."""
    drawn = diagram(examples.wrapper_heap(), "q")

    assert 'nothing["nothing stands at q"]' in drawn
