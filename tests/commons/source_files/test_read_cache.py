"""Repeated reads of one writer are cached, and the cache ends with the writer."""

from __future__ import annotations

from deia.commons.source_files.read_cache import MOST, cache_reads, cached


def test_the_same_key_is_made_once_while_it_lasts() -> None:
    made: list[str] = []

    def make() -> str:
        made.append("made")
        return f"{len(made)}"

    assert [cached("key", make, size=1), cached("key", make, size=1)] == ["1", "2"]
    with cache_reads():
        assert [cached("key", make, size=1), cached("key", make, size=1)] == ["3", "3"]
        with cache_reads():
            assert cached("key", make, size=1) == "3"
        assert cached("key", make, size=1) == "3"
    assert cached("key", make, size=1) == "4"


def test_only_what_was_used_last_is_kept() -> None:
    with cache_reads():
        for number in range(5):
            cached(number, lambda number=number: number, size=MOST // 4)  # type: ignore[misc]
            assert cached(0, lambda: -1, size=MOST // 4) == 0
        assert cached(1, lambda: -1, size=MOST // 4) == -1


def test_what_is_larger_than_the_cache_is_kept_until_the_next() -> None:
    with cache_reads():
        assert cached("long", lambda: 1, size=2 * MOST) == 1
        assert cached("long", lambda: 2, size=2 * MOST) == 1
        cached("short", lambda: 3, size=1)
        assert cached("long", lambda: 4, size=2 * MOST) == 4
