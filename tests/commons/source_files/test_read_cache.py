"""Repeated reads of one writer are cached, and the cache ends with the writer."""

from __future__ import annotations

from deia.commons.source_files.read_cache import MOST, cache_reads, cached


def test_the_same_key_is_made_once_while_it_lasts() -> None:
    made: list[str] = []

    def make() -> str:
        made.append("made")
        return f"{len(made)}"

    assert [cached("key", make), cached("key", make)] == ["1", "2"]
    with cache_reads():
        assert [cached("key", make), cached("key", make)] == ["3", "3"]
        with cache_reads():
            assert cached("key", make) == "3"
        assert cached("key", make) == "3"
    assert cached("key", make) == "4"


def test_only_the_last_few_are_kept() -> None:
    with cache_reads():
        for number in range(MOST + 1):
            cached(number, lambda number=number: number)  # type: ignore[misc]
            assert cached(0, lambda: -1) == 0
        assert cached(1, lambda: -1) == -1
