"""A document's passages are read one by one from its line in the catalog, whatever their headings say."""

from __future__ import annotations

import json
import mmap
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.errors import ArtefactError
from deia.search.ranking.links import passage_at
from deia.search.stored_document import StoredDocument, described_at, document_at, line_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NATURE = st.tuples(TEXT, TEXT, st.integers(0, 99), st.integers(-1, 9), st.integers(0, 9))
ROW = st.tuples(st.integers(1, 10**9), st.integers(1, 10**9), TEXT, st.none() | NATURE)
BEFORE = b'"other"\t{"id":"other"}\t\t\n'


def stored(described: dict[str, object], rows: list[list[object]]) -> tuple[mmap.mmap, int, int]:
    """Return a catalog's lines with that of a document between others, and from where to where it is."""
    line = line_of(described, rows, json.dumps)
    data = mmap.mmap(-1, len(line) + 2 * len(BEFORE))
    data.write(BEFORE + line + BEFORE)
    return data, len(BEFORE), len(BEFORE) + len(line)


def opened(described: dict[str, object], rows: list[list[object]]) -> StoredDocument:
    return document_at(stored(described, rows), 7)


@given(TEXT, TEXT, st.lists(ROW, max_size=12))
def test_passages_are_given_back_one_by_one(name: str, title: str, rows: list[tuple[int, int, str, object]]) -> None:
    described: dict[str, object] = {"id": name, "path": "a\tb.md", "title": title, "tags": [title], "first_line": 3}
    written: list[list[object]] = [[first, last, heading, *(nature or ())] for first, last, heading, nature in rows]  # type: ignore[misc]
    document = opened({**described, "type": "code"}, written)
    assert (document.entry.id, document.entry.path, document.entry.tags) == (name, "a\tb.md", (title,))
    assert (document.number, document.first_line, document.type) == (7, 3, "code")
    assert [*document.passages] == [(first, last) for first, last, _, _ in rows]
    assert [*document.headings] == [heading for _, _, heading, _ in rows]
    assert [*document.natures] == [nature or () for _, _, _, nature in rows]
    assert (len(document.passages), bool(document.headings)) == (len(rows), bool(rows))
    for at in range(-len(rows), len(rows)):
        assert document.headings[at] == rows[at][2]
    for at in (len(rows), -len(rows) - 1):
        with pytest.raises(IndexError):
            document.passages[at]


@given(st.sets(st.integers(1, 500), min_size=1, max_size=40), st.integers(0, 600))
def test_the_passage_at_a_line_is_the_last_one_that_begins_before_it(firsts: set[int], line: int) -> None:
    rows: list[list[object]] = [[first, first, ""] for first in sorted(firsts)]
    document = opened({"id": "a", "path": "a", "title": "A", "first_line": 1}, rows)
    before = [at for at, row in enumerate(rows) if itemgetter(0)(row) <= line]
    assert passage_at(document, line) == max(before, default=0)
    assert document.natures == ()


def test_a_description_is_read_without_the_passages() -> None:
    line = stored({"id": "a", "path": "bok/a.md"}, [[1, 2, "Heading"]] * 3)
    assert described_at(line) == {"id": "a", "path": "bok/a.md"}
    line = stored({}, [])  # a number that has no document any more
    assert described_at(line) == {}


@pytest.mark.parametrize("damage", [(b"\t", b" "), (b"\t0", b"\t"), (b'"title"', b"title")])
def test_a_line_that_is_not_whole_is_refused_with_the_cure(damage: tuple[bytes, bytes]) -> None:
    line = line_of({"id": "a", "path": "a", "title": "A", "first_line": 1}, [[1, 2, "H"]] * 2, json.dumps)
    torn = line.replace(*damage)
    data = mmap.mmap(-1, len(torn))
    data.write(torn)
    with pytest.raises(ArtefactError, match="deia compile"):
        document_at((data, 0, len(torn)), 7)
