"""Records come back from JSON with the types that their fields have, or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from deia.records import Record
from deia.typed_json import plain, read_record


class Inner(Record):
    """A record inside another."""

    name: str
    share: float = 0.0


class Outer(Record):
    """A record with a field of every kind."""

    count: int
    parts: tuple[Inner, ...] = ()
    words: tuple[str, ...] = ()
    sums: Mapping[str, float] = {}


WHOLE = Outer(count=1, parts=(Inner(name="a", share=1),), words=("b",), sums={"c": 0.5})


def test_what_was_written_comes_back_and_unknown_fields_are_ignored() -> None:
    written = plain(WHOLE)
    assert written == {"count": 1, "parts": [{"name": "a", "share": 1}], "words": ["b"], "sums": {"c": 0.5}}
    assert read_record(Outer, json.loads(json.dumps({**written, "unknown": None}))) == WHOLE


@pytest.mark.parametrize(
    "damage",
    [None, [], {}, {"count": "1"}, {"count": 1, "words": "b"}, {"count": 1, "words": [1]}, {"count": 1, "parts": [1]},
     {"count": 1, "parts": [{}]}, {"count": 1, "sums": []}, {"count": 1.5}],
)  # fmt: skip
def test_what_has_another_type_is_no_record(damage: object) -> None:
    with pytest.raises(TypeError):
        read_record(Outer, damage)
