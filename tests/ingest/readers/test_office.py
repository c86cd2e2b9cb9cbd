from __future__ import annotations

import io
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.chunk import chunk
from deia.ingest.read import read
from deia.ingest.readers.packages import LARGEST_PART
from deia.ingest.reading import ReadingError
from tests.ingest.readers.office_files import archive, document, paragraph, presentation, shape, spreadsheet

TABLE = "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>".format(paragraph("a | b"), paragraph("2"))
DOCUMENT = document(paragraph("The plan", style="berschrift2") + paragraph("# 1 of 2") + TABLE)


def test_a_document_keeps_headings_of_any_language_and_rows_of_tables() -> None:
    reading = read("plan.docx", DOCUMENT)
    assert reading.text == "## The plan\n\n # 1 of 2\n\n| a / b | 2 |"
    assert (reading.type, reading.title, reading.pages) == ("office", "The plan", ())


def test_the_pages_that_a_program_laid_out_are_known_and_chunks_name_them() -> None:
    body = paragraph("one " * 200) + paragraph("two", inside="<w:lastRenderedPageBreak/>")
    chunks = chunk(read("a.docx", document(body)), id="a")
    assert [each.page for each in chunks if each.text.startswith(("one", "two"))] == [1, 2]


def test_slides_come_in_the_order_of_the_presentation_each_a_page() -> None:
    reading = read("a.pptx", presentation(shape("First", "title") + shape("point"), shape("Second", "title")))
    assert reading.text == "# First\n\npoint\n\n## Second"
    assert reading.pages == (1, 5)
    assert [(each.page, each.heading) for each in chunk(reading, id="a")] == [(1, "First"), (2, "First > Second")]


def test_a_sheet_is_a_page_and_a_row_is_a_row() -> None:
    pytest.importorskip("python_calamine")
    rows = '<row r="1"><c r="A1"><v>3.0</v></c><c r="B1" t="inlineStr"><is><t>pears</t></is></c></row>'
    reading = read("a.xlsx", spreadsheet(rows))
    assert reading.text == "# Prices\n\n| 3 | pears |"
    assert reading.pages == (1,)


def test_entities_are_refused_before_they_expand() -> None:
    laughs = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><l>&b;</l>'
    with pytest.raises(ReadingError, match="document type"):
        read("a.docx", archive({"word/document.xml": laughs}))
    with pytest.raises(ReadingError, match="document type"):
        read("a.docx", zip_of("word/document.xml", laughs.encode("utf-16")))


def zip_of(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, data)
    return buffer.getvalue()


def test_a_bomb_is_read_no_further_than_the_limit_whatever_its_header_says() -> None:
    bomb = zip_of("word/document.xml", b" " * (LARGEST_PART + 10))
    with pytest.raises(ReadingError, match="expands to more than"):
        read("a.docx", bomb)
    lying = bomb.replace((LARGEST_PART + 10).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    with pytest.raises(ReadingError):
        read("a.docx", lying)


def test_an_archive_of_something_else_is_refused() -> None:
    with pytest.raises(ReadingError, match="no document, presentation or spreadsheet"):
        read("a.docx", archive({"a.txt": "words"}))


@given(st.data())
def test_a_damaged_file_is_refused_or_read_but_never_breaks_anything(data: st.DataObject) -> None:
    whole = bytearray(data.draw(st.sampled_from([DOCUMENT, presentation(shape("x"))])))
    for at, value in data.draw(st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=8)):
        whole[at] = value
    with suppress(ReadingError):
        read("a.docx", bytes(whole[: data.draw(st.integers(0, len(whole)))]))


@given(st.recursive(st.text(alphabet="ab ", max_size=5), lambda inner: st.lists(inner, max_size=4)))
def test_any_xml_in_a_document_is_read(tree: object) -> None:
    def xml(part: object) -> str:
        if isinstance(part, str):
            return paragraph(part, style="berschrift2" if "a" in part else "")
        assert isinstance(part, list)
        return "<w:tbl><w:tr><w:tc>" + "".join(map(xml, part)) + "</w:tc></w:tr></w:tbl>"

    assert read("a.docx", document(xml(tree))).type == "office"
