"""Records: declared once, frozen in heaps, written as twins in drafts."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmodel.state import autograd, holders, optimizers, tensors, weakrefs
from swapmodel.state.record import (
    field_names,
    freeze,
    record,
    seal_all,
    thaw,
    writable,
)

RECORDS: tuple[Any, ...] = tuple(
    one
    for chapter in (tensors, autograd, weakrefs, holders, optimizers)
    for one in vars(chapter).values()
    if isinstance(one, type) and one.__module__ == chapter.__name__ and attrs.has(one)
)

every_record = pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)


def example(kind: Any) -> Any:
    """A record whose fields all differ."""
    return kind(**{name: number for number, name in enumerate(field_names(kind))})


def examples() -> st.SearchStrategy[Any]:
    """Records of every kind, with anything hashable in their fields."""
    held = st.one_of(st.none(), st.integers(), st.text(), st.tuples(st.integers()))
    return st.sampled_from(RECORDS).flatmap(
        lambda kind: st.builds(kind, **dict.fromkeys(field_names(kind), held))
    )


def test_every_kind_of_thing_is_found_here() -> None:
    """The tests below see the records that a heap is made of."""
    names = {kind.__name__ for kind in RECORDS}

    assert names >= {"Tensor", "TensorImpl", "Storage", "AutogradMeta", "Node", "Hooks"}
    assert names >= {"SavedVariable", "Weakref", "Module", "Flags"}


@every_record
def test_a_twin_has_the_fields_of_its_record(kind: Any) -> None:
    """A record is declared once: its twin has the same fields and defaults."""
    twin = writable(kind)

    assert field_names(kind) == field_names(twin)
    assert [one.default for one in attrs.fields(kind)] == [
        one.default for one in attrs.fields(twin)
    ]


@every_record
def test_a_frozen_record_cannot_be_written(kind: Any) -> None:
    """Writing what stands in a heap fails, so that no step changes another's heap."""
    one = example(kind)

    for name in field_names(kind):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(one, name, None)


@every_record
def test_no_field_can_be_invented(kind: Any) -> None:
    """A twin takes no field that its record lacks: a misspelt write fails."""
    with pytest.raises(AttributeError):
        thaw(example(kind)).misspelt = 1


@given(one=examples())
def test_thawed_and_frozen_again(one: Any) -> None:
    """A twin that was not written freezes and seals to what it was made from."""
    sealed = thaw(one)
    seal_all([sealed])

    assert type(thaw(one)) is writable(type(one))
    assert one == freeze(thaw(one))
    assert one == sealed
    assert hash(one) == hash(freeze(thaw(one)))


@given(one=examples())
def test_writing_a_twin(one: Any) -> None:
    """What is written to a twin is in what it freezes to, and nowhere else."""
    name = field_names(type(one))[0]
    was, twin = getattr(one, name), thaw(one)

    setattr(twin, name, "written")

    assert was == getattr(one, name)
    assert attrs.evolve(one, **{name: "written"}) == freeze(twin)


@every_record
def test_freezing_copies(kind: Any) -> None:
    """A twin goes on being written after it was frozen; the frozen one stays."""
    twin = thaw(example(kind))
    frozen = freeze(twin)

    setattr(twin, field_names(kind)[-1], "written")

    assert example(kind) == frozen


@every_record
def test_sealing_ends_writing(kind: Any) -> None:
    """A sealed twin is the frozen record itself: whoever holds it cannot write it."""
    twin = thaw(example(kind))
    seal_all([twin])

    assert type(twin) is kind
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(twin, field_names(kind)[0], None)


@every_record
def test_a_twin_is_made_with_the_arguments_of_its_record(kind: Any) -> None:
    """New things can be made writable at once."""
    given_fields = {name: number for number, name in enumerate(field_names(kind))}

    assert kind(**given_fields) == freeze(writable(kind)(**given_fields))


@every_record
def test_what_is_frozen_stays_itself(kind: Any) -> None:
    """Freezing a frozen record copies nothing, and sealing it does nothing."""
    one = example(kind)
    seal_all([one])

    assert freeze(one) is one
    assert one == example(kind)


def test_records_of_one_field() -> None:
    """A record with a single field is copied like any other."""

    @record
    class Alone:
        only: int

    assert Alone(only=3) == freeze(thaw(Alone(only=3)))
