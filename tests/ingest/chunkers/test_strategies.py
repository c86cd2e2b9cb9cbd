from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.chunk import chunk
from deia.ingest.reading import STRATEGIES, ChunkerConfig, MarkdownChunkerConfig, Reading, ReadingError
from deia.knowledge import Chunk

TEXT = """Before all headings. It has e.g. two sentences.

# Title

First paragraph of the title. It goes on
over a line. And on!

Second paragraph.

## Part one

Words of part one.

```sh
# no heading
```

## Part two

Words of part two. More of them, which are many, and more, so that this does not fit in so few characters. The end.
"""
LINES = st.lists(
    st.one_of(
        st.sampled_from(["", "# A", "## B c", "### D", "```", "A b. C d! E", "x" * 90, "。え"]), st.text(max_size=30)
    ),
    max_size=30,
)


def cut(strategy: str, text: str = TEXT, *, max_chars: int = 0, overlap_chars: int = 0) -> list[Chunk]:
    reading = Reading(type="markdown", title="T", text=text, pages=(1, 5, 14))
    config = ChunkerConfig(strategy=strategy, max_chars=max_chars, overlap_chars=overlap_chars)
    return chunk(reading, id="t", config=config)


def test_each_strategy_cuts_the_same_text_in_another_way() -> None:
    ways = {strategy: tuple((c.text, c.parent) for c in cut(strategy, max_chars=200)) for strategy in STRATEGIES}
    assert [one for one in ways if list(ways.values()).count(ways[one]) > 1] == []


def test_by_heading_begins_a_chunk_at_each_heading_and_names_those_above() -> None:
    assert [c.heading for c in cut("by_heading")] == ["T", "Title", "Title > Part one", "Title > Part two"]


def test_hierarchical_knows_parents_and_levels() -> None:
    chunks = cut("hierarchical")
    assert [(c.symbol, c.parent, c.level) for c in chunks[1:]] == [
        ("Title", -1, 0), ("Title > Part one", 1, 1), ("Title > Part two", 1, 1),
    ]  # fmt: skip


def test_by_page_makes_a_chunk_of_each_page() -> None:
    assert [(c.page, c.lines[0]) for c in cut("by_page")] == [(1, 1), (2, 5), (3, 14)]


def test_by_paragraph_makes_a_chunk_of_each_paragraph() -> None:
    assert "Second paragraph." in [c.text for c in cut("by_paragraph")]


def test_by_sentence_ends_every_chunk_with_a_sentence_or_a_paragraph() -> None:
    texts = [c.text for c in cut("by_sentence", max_chars=60)]
    assert "First paragraph of the title. It goes on\nover a line." in texts


def test_fixed_chars_are_exactly_so_many_and_overlap_by_exactly_so_many() -> None:
    text = "".join(chr(97 + n % 26) for n in range(1000))
    chunks = cut("fixed_chars", text, max_chars=100, overlap_chars=20)
    assert {len(c.text) for c in chunks[:-1]} == {100}
    assert all(before.text[-20:] == after.text[:20] for before, after in pairwise(chunks))


def test_an_overlap_repeats_whole_words() -> None:
    first, second, *_ = cut(
        "recursive", "alpha beta gamma delta epsilon zeta eta theta iota " * 9, max_chars=100, overlap_chars=20
    )
    repeated = next(n for n in range(20, 0, -1) if first.text.endswith(second.text[:n].strip()))
    assert repeated > 5
    assert second.text.split()[0] in {"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota"}


def test_markdown_is_split_on_headings_of_a_level_and_below() -> None:
    reading = Reading(type="markdown", title="T", text=TEXT)
    config = MarkdownChunkerConfig(min_heading_level=2)
    assert [c.heading for c in chunk(reading, id="t", config=config)] == ["T", "Part one", "Part two"]


def test_an_unknown_strategy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ReadingError, match="by_heading"):
        cut("by_moon")


@given(LINES, st.sampled_from(STRATEGIES), st.integers(0, 200), st.integers(0, 90))
def test_no_word_is_lost_and_each_chunk_is_what_stands_on_its_lines(
    lines: list[str], strategy: str, size: int, overlap: int
) -> None:
    text = "\n".join(lines)
    chunks = cut(strategy, text, max_chars=size, overlap_chars=overlap)
    rows = text.split("\n")
    assert [c.ordinal for c in chunks] == list(range(len(chunks)))
    for c in chunks:
        assert c.text in "\n".join(rows[c.lines[0] - 1 : c.lines[1]])
        assert len(c.text) <= max(size or 1200, 40)
        assert c.parent < c.ordinal
    if not overlap:
        kept = "".join(letter for c in chunks for letter in c.text if letter.isalnum())
        assert kept == "".join(letter for letter in text if letter.isalnum())
