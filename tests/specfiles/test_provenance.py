"""The recordings that come along, and where they come from."""

import pytest

from swapmodel.specfiles.provenance import Provenance, read_provenance, recordings
from swapmodel.specfiles.read import load_spec, release_ids

PROVENANCES = [read_provenance(path) for path in recordings()]


def test_all_are_small() -> None:
    """Together they have at most 10 MB."""
    assert sum(path.stat().st_size for path in recordings()) < 10_000_000


def test_names_and_order() -> None:
    """A file is named by its release, and the oldest comes first."""
    named = [path.name.split("-")[1].removesuffix(".jsonl.xz") for path in recordings()]

    assert named == [one.torch for one in PROVENANCES]
    numbers = [[int(part) for part in one.torch.split(".")] for one in PROVENANCES]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("one", PROVENANCES, ids=lambda one: one.torch)
def test_where_each_comes_from(one: Provenance) -> None:
    """Its release is one that its spec calls measured; nothing is left blank."""
    assert one.torch in load_spec(one.torch).measured
    assert one.build.partition("+")[0] == one.torch
    assert (len(one.git), len(one.sha256)) == (40, 64)
    assert one.programs > 10_000
    assert one.python.startswith("3.")
    assert one.device == "cpu" or one.device
    assert one.platform == "Linux x86_64"
    assert set(one.unseen) <= {"_use_count()"}


def test_every_group_of_releases_was_recorded() -> None:
    """No spec of a release rests on its neighbours alone."""
    assert {load_spec(one.torch).id for one in PROVENANCES} == set(release_ids())
