"""Components in WebAssembly, honest and hostile, in the process that runs them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.ingest.custom.component import from_offsets, pieces_of
from deia.ingest.custom.cutting import CustomChunker
from deia.ingest.reader_process import ReaderProcess
from deia.ingest.reading import ChunkerConfig, Reading, ReadingError
from tests.ingest.custom.components import FAMILY, HOSTILE, RECORDS, component, saying, stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

wasmtime = pytest.importorskip("wasmtime")
TEXT = "äöü # no record\n# one\nfirst\n# two\nsecond 🍎\n"


@pytest.fixture(scope="module")
def process() -> Iterator[ReaderProcess]:
    with ReaderProcess() as running:
        yield running


def reading(text: str = TEXT) -> Reading:
    return Reading(type="text", title="manual", text=text, path="a.pmp")


def chunker(folder: Path, wat: str) -> CustomChunker:
    path = folder / "pump.wasm"
    path.write_bytes(bytes(wasmtime.wat2wasm(wat)))
    return CustomChunker(name="pump", path=str(path))


def test_offsets_become_chunks_with_lines_whatever_characters_there_are(tmp_path: Path, process: ReaderProcess) -> None:
    chunks = process.chunk(reading(), id="a", custom=chunker(tmp_path, RECORDS))
    assert [chunk.text for chunk in chunks] == ["äöü # no record", "# one\nfirst", "# two\nsecond 🍎"]
    assert [chunk.lines for chunk in chunks] == [(1, 1), (2, 3), (4, 5)]


def test_records_become_chunks_with_parents_kinds_and_names(tmp_path: Path, process: ReaderProcess) -> None:
    header, rest = process.chunk(reading("pump P1\nturns\nleft\n"), id="a", custom=chunker(tmp_path, FAMILY))
    assert (header.text, header.symbol, header.kind, header.parent, header.lines) == (
        "pump P1",
        "a",
        "pump",
        -1,
        (1, 1),
    )
    assert (rest.text, rest.symbol, rest.parent, rest.level, rest.lines) == ("turns\nleft", "b", 0, 1, (2, 3))


def test_a_chunk_that_is_too_long_is_cut_and_what_the_person_wants_counts(
    tmp_path: Path, process: ReaderProcess
) -> None:
    long = "# one\n" + "word " * 400
    custom = chunker(tmp_path, RECORDS)
    assert len(process.chunk(reading(long), id="a", custom=custom)) == 1
    chunks = process.chunk(reading(long), id="a", custom=custom, config=ChunkerConfig(max_chars=500))
    assert max(len(chunk.text) for chunk in chunks) <= 500
    assert " ".join(chunk.text for chunk in chunks).split() == long.split()


def test_metadata_kind_and_heading_stand_on_the_chunk(tmp_path: Path, process: ReaderProcess) -> None:
    said = '[{"start": 0, "end": 6, "id": "x", "metadata": {"kind": "alarm", "heading": "Alarms", "code": "7"}}]'
    (chunk,) = process.chunk(reading(), id="a", custom=chunker(tmp_path, saying(said)))
    assert (chunk.symbol, chunk.kind, chunk.heading, chunk.metadata["code"]) == ("x", "alarm", "Alarms", "7")


def test_nothing_is_left_of_one_file_when_the_next_is_cut(tmp_path: Path, process: ReaderProcess) -> None:
    # It returns one byte of text more each time that it is asked, if it remembers.
    body = f"(i32.store (i32.const 3000) (i32.add (i32.load (i32.const 3000)) (i32.const 1))) {stored(8192, 18)}"
    remembering = component(
        "offsets",
        "(i32.store8 (i32.const 8206) (i32.add (i32.const 49) (i32.load (i32.const 3000)))) " + body,
        '(data (i32.const 8192) "[{\\22end\\22:      1 }]")',
    )
    custom = chunker(tmp_path, remembering)
    first, second = (process.chunk(reading("abcdef"), id="a", custom=custom) for _ in range(2))
    assert [chunk.text for chunk in first] == [chunk.text for chunk in second]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_component_is_ended_and_that_is_said(tmp_path: Path, process: ReaderProcess, name: str) -> None:
    wat, why = HOSTILE[name]
    with pytest.raises(ReadingError, match=f"{why}|took too long") as error:  # on a busy machine, its time is up first
        process.chunk(reading(), id="a", custom=chunker(tmp_path, wat))
    assert error.value.where == "a.pmp"
    assert process.read("next.txt", b"next").text == "next"


def test_what_a_component_imports_is_not_there(tmp_path: Path, process: ReaderProcess) -> None:
    imports = '(import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock (export "now" (func (result u64)))))'
    core = """(core func $now (canon lower (func $clock "now")))
      (core module $caller (import "clock" "now" (func $now (result i64))) (func $s (drop (call $now))) (start $s))
      (core instance (instantiate $caller (with "clock" (instance (export "now" (func $now))))))"""
    wat = component("offsets", stored(0, 0), imports=imports + core)
    with pytest.raises(ReadingError, match="files, network, a clock"):
        process.chunk(reading(), id="a", custom=chunker(tmp_path, wat))


@pytest.mark.parametrize(
    "content", [b"", b"(component)", b"\0asm\x01\0\0\0", b"\0asm\x0d\0\x01\0", b"\0asm\x0d\0\x01\0\xff"]
)
def test_what_is_no_component_of_a_chunker_is_refused(tmp_path: Path, process: ReaderProcess, content: bytes) -> None:
    with pytest.raises(ReadingError, match=r"no WebAssembly component|exports neither|cannot be compiled"):
        process.native_code("x", content)


def test_native_code_that_does_not_fit_is_made_again(tmp_path: Path, process: ReaderProcess) -> None:
    custom = chunker(tmp_path, RECORDS)
    native = tmp_path / "native"
    native.write_bytes(process.native_code("pump", (tmp_path / "pump.wasm").read_bytes()))
    assert len(process.chunk(reading(), id="a", custom=custom.but(native=str(native)))) == 3
    native.write_bytes(b"damaged")
    with ReaderProcess() as another:
        assert len(another.chunk(reading(), id="a", custom=custom.but(native=str(native)))) == 3


NAMES = st.text(max_size=2)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"start": st.integers(-2, 40), "end": st.integers(-2, 40)},
        optional={"id": NAMES, "parent": NAMES, "metadata": st.dictionaries(st.text(), st.text())},
    )
    | st.integers() | st.none() | st.lists(st.integers(), max_size=2),
    max_size=6,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=30), ROWS | st.text())
def test_whatever_is_said_of_a_text_is_a_chunk_inside_it_or_refused(text: str, rows: object) -> None:
    data = text.encode("utf-8", "replace")
    plain = data.decode()
    try:
        pieces = pieces_of(from_offsets(json.dumps(rows), data), data, reading(plain))
    except ReadingError:
        return
    assert all(0 <= piece.start <= piece.end <= len(plain) and piece.parent < at for at, piece in enumerate(pieces))
    names = [piece.node.symbol for piece in pieces if piece.node.symbol]
    assert len(names) == len({*names})
