from __future__ import annotations

import os
import signal
import sys

import pytest

from deia.ingest.chunk import chunk
from deia.ingest.read import read
from deia.ingest.reader_process import ReaderProcess
from deia.ingest.reading import ChunkerConfig, ReadingError
from tests.ingest.readers.office_files import document, paragraph, spreadsheet

MEMORY = 1 << 30


def test_a_file_is_read_and_cut_as_it_would_be_here() -> None:
    with ReaderProcess() as process:
        config = ChunkerConfig(strategy="by_heading")
        reading = process.read("a.md", b"# A\n\nwords\n\n## B\n\nmore \xf0\x9f\x8d\x8e")
        assert reading == read("a.md", b"# A\n\nwords\n\n## B\n\nmore \xf0\x9f\x8d\x8e")
        assert process.chunk(reading, id="a", config=config) == chunk(reading, id="a", config=config)
        assert process.read("b.docx", document(paragraph("x"))).pages == ()


def test_what_cannot_be_read_is_refused_in_the_words_of_its_reader() -> None:
    with ReaderProcess() as process, pytest.raises(ReadingError, match="core: no reader"):
        process.read("core", b"\x7fELF\0")


def test_a_reader_that_is_killed_costs_one_file_and_no_more() -> None:
    with ReaderProcess() as process:
        process.read("a.txt", b"a")
        assert process._process is not None
        os.kill(process._process.pid, signal.SIGTERM)
        process._process.wait()
        assert process.read("a.txt", b"again").text == "again"


def test_a_file_that_takes_too_long_is_stopped() -> None:
    with ReaderProcess(seconds=0.4) as process, pytest.raises(ReadingError, match=r"longer than 0\.4 seconds"):
        process.chunk(process.read("a.yaml", b"- [a, b, {c: d}]\n" * 100_000), id="a")
    with ReaderProcess() as process:
        assert process.read("a.txt", b"next").text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_sheet_with_one_far_cell_cannot_eat_the_memory_whatever_it_says_of_its_size() -> None:
    pytest.importorskip("python_calamine")
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    with ReaderProcess(memory=MEMORY) as process:
        assert process.read("a.xlsx", spreadsheet(rows)).text == "# Prices\n\n| 1 |  |\n|  | 2 |"
        with pytest.raises(ReadingError, match=r"memory|no whole"):
            process.read("a.xlsx", spreadsheet(f'<dimension ref="A1:B2"/>{rows}'))
        assert process.read("a.txt", b"next").text
