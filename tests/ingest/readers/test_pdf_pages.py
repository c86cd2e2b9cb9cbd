from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.ingest.chunk import chunk
from deia.ingest.read import read
from deia.ingest.reading import ChunkerConfig, ReadingError

pytest.importorskip("pypdfium2")


def pdf(
    pages: list[list[tuple[int, str]]], *, outline: list[tuple[str, int]] | None = None, cyclic: bool = False
) -> bytes:
    """Return a PDF of lines with their sizes; of an outline, if it has one, each entry leads to a page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R%s >>" % (" /Outlines 4 0 R" if outline else "")]
    first = 5 + len(outline or [])
    kids = " ".join(f"{first + 2 * n} 0 R" for n in range(len(pages)))
    objects += [f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    objects += ["<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    entries = outline or []
    objects += [f"<< /Type /Outlines /First 5 0 R /Last {4 + len(entries)} 0 R /Count {len(entries)} >>"]
    for n, (title, page) in enumerate(entries):
        following = 5 if cyclic and n == len(entries) - 1 else 6 + n
        link = f" /Next {following} 0 R" if cyclic or n < len(entries) - 1 else ""
        objects += [f"<< /Title ({title}) /Parent 4 0 R /Dest [{first + 2 * page} 0 R /Fit]{link} >>"]
    for n, lines in enumerate(pages):
        drawn = "".join(
            f"/F {size} Tf 1 0 0 1 72 {740 - 20 * at} Tm ({text}) Tj " for at, (size, text) in enumerate(lines)
        )
        stream = f"BT {drawn}ET"
        resources = "/Resources << /Font << /F 3 0 R >> >> /MediaBox [0 0 612 792]"
        objects += [f"<< /Type /Page /Parent 2 0 R {resources} /Contents {first + 2 * n + 1} 0 R >>"]
        objects += [f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream"]
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    tail = (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n"
    )
    return body + f"{tail}startxref\n{len(body)}\n%%EOF".encode()


PAGE = [
    (10, "The manual of everything"),
    (16, "1 Install"),
    (10, "Words about installing it, which are many."),
    (10, "7"),
]
OTHER = [(10, "The manual of everything"), (16, "2 Use"), (10, "Words about using it. # no heading"), (10, "8")]
BOOK = [
    PAGE,
    OTHER,
    *(
        [
            [(10, "The manual of everything"), (10, f"A page about {word}, which has many words."), (10, str(9 + n))]
            for n, word in enumerate(("apples", "pears", "plums", "nuts"))
        ]
    ),
]


def test_larger_lines_are_headings_and_what_stands_on_every_page_is_left_out() -> None:
    reading = read("a.pdf", pdf(BOOK))
    assert [line for line in reading.text.split("\n") if line.startswith("#")] == ["# 1 Install", "# 2 Use"]
    assert "The manual of everything" not in reading.text
    assert (reading.title, len(reading.pages), reading.metadata["pages"]) == ("1 Install", 6, 6)


def test_chunks_name_their_pages() -> None:
    chunks = chunk(read("a.pdf", pdf(BOOK)), id="a", config=ChunkerConfig(strategy="by_heading"))
    assert [(each.heading, each.page) for each in chunks] == [("1 Install", 1), ("2 Use", 2)]


def passages(pages: list[list[tuple[int, str]]], strategy: str = "", *, max_chars: int = 0) -> list[tuple[int, str]]:
    """Return the page and the text of each chunk of a PDF."""
    config = ChunkerConfig(strategy=strategy, max_chars=max_chars)
    return [(each.page, each.text) for each in chunk(read("a.pdf", pdf(pages)), id="a", config=config)]


SHORT = [[(10, "First page about the sproggle engine.")], [(10, "Second page tells of the twindle gasket.")]]


@pytest.mark.parametrize(("strategy", "max_chars"), [("", 0), ("", 800), ("recursive", 0)])
def test_short_pages_share_no_chunk_so_that_each_text_is_cited_with_its_own_page(strategy: str, max_chars: int) -> None:
    assert passages(SHORT, strategy, max_chars=max_chars) == [(1, SHORT[0][0][1]), (2, SHORT[1][0][1])]


@pytest.mark.parametrize("strategy", ["", "recursive"])
def test_short_pages_below_one_title_share_no_chunk_either(strategy: str) -> None:
    more = [(10, "It is loud."), (10, "It is old.")]
    first, second = passages([[(16, "Pumps and engines"), *SHORT[0], *more], SHORT[1]], strategy)
    assert first == (1, "# Pumps and engines\n\nFirst page about the sproggle engine.\n\nIt is loud.\n\nIt is old.")
    assert second == (2, "Second page tells of the twindle gasket.")


@pytest.mark.parametrize("strategy", ["", "recursive"])
def test_a_page_with_a_heading_alone_stays_with_the_text_below_it_whose_page_it_has(strategy: str) -> None:
    body = [(10, f"Line {word} about the sproggle engine.") for word in ("one", "two", "three")]
    first, second = passages([body, [(16, "Part two")], [*SHORT[1], *body[:1]]], strategy)
    assert (first[0], second[0]) == (1, 3)
    assert second[1].startswith("# Part two\n\nSecond page tells of the twindle gasket.")


def test_an_outline_says_what_the_headings_are() -> None:
    reading = read("a.pdf", pdf(BOOK, outline=[("Use", 1), ("Not on the page", 2)]))
    assert [line for line in reading.text.split("\n") if line.startswith("#")] == ["# Use", "# Not on the page"]


def test_an_outline_that_runs_in_a_circle_is_read_once() -> None:
    assert read("a.pdf", pdf(BOOK, outline=[("Use", 1), ("Install", 0)], cyclic=True)).text.count("# Use") == 1


def test_pages_without_text_are_told() -> None:
    assert "pictures" in read("a.pdf", pdf([[]])).notes[0]


def test_what_is_no_pdf_is_refused() -> None:
    with pytest.raises(ReadingError, match="no whole PDF"):
        read("a.pdf", b"%PDF-1.7\nnothing")


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255)), max_size=12), st.integers(0, 4000))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_damaged_file_is_refused_or_read(changes: list[tuple[int, int]], end: int) -> None:
    whole = bytearray(pdf(BOOK, outline=[("Use", 1)]))
    for at, value in changes:
        whole[at % len(whole)] = value
    with suppress(ReadingError):
        read("a.pdf", bytes(whole[:end] if end > 2000 else whole))
