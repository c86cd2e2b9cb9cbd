"""What is read again while one writer works is read once, and nothing outlives it."""

from __future__ import annotations

from deia.commons.source_files.read_cache import MOST, once, reading_once


def test_the_same_key_is_made_once_while_it_lasts() -> None:
    made: list[str] = []

    def make() -> str:
        made.append("made")
        return f"{len(made)}"

    assert [once("key", make), once("key", make)] == ["1", "2"]
    with reading_once():
        assert [once("key", make), once("key", make)] == ["3", "3"]
        with reading_once():
            assert once("key", make) == "3"
        assert once("key", make) == "3"
    assert once("key", make) == "4"


def test_only_the_last_few_are_kept() -> None:
    with reading_once():
        for number in range(MOST + 1):
            once(number, lambda number=number: number)  # type: ignore[misc]
            assert once(0, lambda: -1) == 0
        assert once(1, lambda: -1) == -1
