from __future__ import annotations

import sys

import pytest

from deia.ingest.chunk import chunk
from deia.ingest.chunkers.definitions import _grammar
from deia.ingest.detect import detect_type
from deia.ingest.read import read
from deia.ingest.reading import ReadingError
from tests.ingest.readers.office_files import spreadsheet


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [
        ("a/notes.MD", b"# Hi", "markdown"),
        ("src/x.cxx", b"int main() {}", "code"),
        ("Makefile", b"all:\n", "code"),
        ("download", b"%PDF-1.7\n", "pdf"),
        ("page", b"<!DOCTYPE html><p>", "html"),
        ("run", b"#!/usr/bin/env python3\n", "code"),
        ("data", b'{"a": 1}', "json"),
        ("words", b"plain words", "text"),
        ("core", b"\x7fELF\0\0", ""),
    ],
)
def test_a_type_is_told_by_ending_then_by_first_bytes_then_by_content(path: str, content: bytes, kind: str) -> None:
    assert detect_type(path, content) == kind


def test_a_text_is_read_with_its_title_and_cut_with_its_lines() -> None:
    reading = read("docs/a.md", b"\xef\xbb\xbf# Title\r\n\r\nSome words.\r\n")
    assert (reading.type, reading.title, reading.path) == ("markdown", "Title", "docs/a.md")
    (passage,) = chunk(reading, id="lib:docs/a.md")
    assert (passage.document, passage.lines, passage.heading) == ("lib:docs/a.md", (1, 3), "Title")


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("---\nlayout: post\ntitle: 'Storing: frames'\n---\n\nFrames lie cold.\n", "Storing: frames"),
        ('+++\ntitle = "Selling honey"\n+++\n\n# Other\n', "Selling honey"),
        ("---\n# nobody wrote one\ntags: [a]\n---\n# Heading\n", "Heading"),
        ("---\ntitle: >-\n  folded\n---\nWords.\n", "a.md"),
        ("---\ntitle: of an open end\n\n# Heading\n", "Heading"),
    ],
)
def test_a_title_in_the_front_matter_counts_before_the_first_heading(content: str, title: str) -> None:
    assert read("docs/a.md", content.encode()).title == title


def test_what_no_reader_knows_is_refused_by_name() -> None:
    with pytest.raises(ReadingError, match="core: no reader"):
        read("core", b"\x7fELF\0\0")


@pytest.mark.parametrize("name", ["a.txt", "b.md", "c.py", "d.json", "e.log"])
@pytest.mark.parametrize(
    "content", [b"%PDF-1.4\n%\xe2\xe3 words", b"PK\x03\x04 words", b"\x89PNG\r\n words", b"a\0words"]
)
def test_a_binary_file_is_never_read_as_text_whatever_it_is_called(name: str, content: bytes) -> None:
    with pytest.raises(ReadingError, match="it is no text"):
        read(name, content)


def test_a_text_of_another_encoding_is_read_and_that_is_said() -> None:
    assert read("a.txt", "Käse".encode("cp1252")).text == "Käse"
    assert read("a.txt", "Käse".encode("cp1252")).notes
    assert read("a.txt", "Käse".encode("utf-16")).text == "Käse"


@pytest.mark.parametrize(
    ("path", "content", "library", "extra"),
    [
        ("a.html", b"<p>x", "selectolax.lexbor", "html"),
        ("a.pdf", b"%PDF-1.7", "pypdfium2", "pdf"),
        ("a.xlsx", spreadsheet(""), "python_calamine", "xlsx"),
        ("a.py", b"x = 1", "tree_sitter_language_pack", "code"),
    ],
)
def test_a_missing_extra_is_told_with_what_to_type(
    monkeypatch: pytest.MonkeyPatch, path: str, content: bytes, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    _grammar.cache_clear()
    with pytest.raises(ReadingError, match=rf"pip install 'deia\[{extra}\]'"):
        chunk(read(path, content), id="x")
