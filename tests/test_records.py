"""Records are immutable, equal by value, and complete when created."""

from __future__ import annotations

import copy
import pickle

import pytest

from deia import knowledge, records
from deia.records import Record, Turn

ALL = [
    value
    for module in (records, knowledge)
    for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, Record) and hasattr(value, "DEFAULTS") and value is not Record
]


class Point(Record):
    """A record to look at."""

    x: int
    y: int = 2


def test_a_record_has_its_fields_and_defaults() -> None:
    assert (Point(x=1).x, Point(x=1).y, Point(x=1, y=5).y) == (1, 2, 5)
    assert repr(Point(x=1)) == "Point(x=1, y=2)"
    assert Point(x=1).values() == {"x": 1, "y": 2}


def test_a_missing_or_unknown_field_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="Point needs x"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Point has no z"):
        Point(x=1, z=2)  # type: ignore[call-arg]


def test_a_record_never_changes() -> None:
    point = Point(x=1)
    with pytest.raises(AttributeError, match="use but"):
        point.x = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        del point.y
    with pytest.raises(AttributeError):
        point.z = 1  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")


def test_a_changed_copy_leaves_the_record_as_it_was() -> None:
    point = Point(x=1)
    assert point.but(x=3) == Point(x=3)
    assert point.x == 1


def test_records_are_equal_by_type_and_value() -> None:
    class Other(Record):
        x: int
        y: int = 2

    assert Point(x=1) == Point(x=1, y=2)
    assert Point(x=1) != Point(x=2)
    other: object = Other(x=1)
    assert Point(x=1) != other
    assert len({Point(x=1), Point(x=1), Point(x=2)}) == 2


def test_a_record_can_be_copied_and_sent_to_another_process() -> None:
    turn = Turn(role="user", text="a", tool_input={"b": 1})
    assert copy.deepcopy(turn) == turn
    assert pickle.loads(pickle.dumps(turn)) == turn  # noqa: S301 - our own value, for processes of our own


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_every_record_says_what_it_is_and_has_no_mutable_default(cls: type[Record]) -> None:
    assert cls.__doc__
    for value in getattr(cls, "DEFAULTS", {}).values():
        assert not isinstance(value, list | set)
        assert value != {} or isinstance(value, dict)


def test_there_are_records() -> None:
    assert len(ALL) >= 10
