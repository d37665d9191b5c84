"""The start heaps of every class, as tables, scripts and real tensors."""

from typing import Any

import pytest

from swapmodel.conformance.starts_of_classes import KINDS, class_scopes
from swapmodel.report.snippets import CLASSES, IMPORTS
from swapmodel.report.start import start_lines
from swapmodel.search.canonical import canonical
from swapmodel.specfiles.given import heap_from_given
from swapmodel.specfiles.write_given import given_of

SCOPES = class_scopes(2)
every_kind = pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: scope.id)


def test_every_class_starts_somewhere() -> None:
    """Each kind has a scope, with fewer actions when programs are longer."""
    deeper = class_scopes(3, ("slotted",))

    assert [scope.id for scope in SCOPES] == [f"class-{kind}" for kind in KINDS]
    assert len(deeper[0].actions) < len(SCOPES[0].actions)


@every_kind
def test_start_heaps_are_read_as_they_are_written(scope: Any) -> None:
    """The tables of a start heap make an equal heap."""
    for _, heap in scope.starts:
        assert canonical(heap_from_given(given_of(heap), "x")) == canonical(heap)


@pytest.mark.torch
@every_kind
def test_start_heaps_are_made_by_scripts(scope: Any) -> None:
    """The lines of a script make what Python sees of a start heap."""
    from swapmodel.conformance.look import observe_world
    from swapmodel.conformance.observation import observe
    from swapmodel.conformance.world import World

    for _, heap in scope.starts:
        made: dict[str, Any] = {}
        exec("\n".join([IMPORTS, *CLASSES.values(), *start_lines(heap)]), made)
        seen = observe_world({name: made[name] for name, _, _ in heap.names})
        World(heap)

        assert observe(heap).places == seen.places
    World(SCOPES[0].starts[0][1])
