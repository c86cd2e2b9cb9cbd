"""Chunkers in WebAssembly: components of `chunker.wit`, run with nothing of this machine within their reach.

Whatever a component imports is a trap: there are no files, no network, no clock and no randomness. Its instructions are
counted (fuel), so that a file fails or succeeds alike on every machine; its memory and the size of its answer are
limited. Each file gets a new instance. `reader_process` bounds the time of the rest. The chunks of a component are
accepted only if they are inside the text, at whole characters, and have unique ids and existing parents.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import wasmtime
from wasmtime import component as wasm

from deia import files
from deia.fast_json import Json
from deia.ingest.chunkers.pieces import Node, Piece
from deia.ingest.reading import ChunkerConfig, Reading, ReadingError

MAGIC = b"\0asm\x0d\0\x01\0"
MEMORY = 256 << 20  # bytes of one linear memory, of which a component may have a few
FUEL, FUEL_A_BYTE = 250_000_000, 1_000  # instructions; a core runs about a thousand million a second
SAMPLE = 65_536  # characters that `analyze` sees
INTERFACE = "deia:chunker/{}@1.0.0"
FORMS = {"offsets": "chunk-offsets", "chunking": "chunk-file"}
OTHER_TYPES = (TypeError, ValueError, AttributeError, LookupError, NotImplementedError, AssertionError)
MOST_TEXTS, LONGEST_ID, LONGEST_TEXT = 100, 200, 1000  # in the metadata of a chunk; characters of an id and of a text
LEAST_ANSWER, ANSWER_A_BYTE = 1_000_000, 8  # characters of the JSON that is read
NEAR = 4096  # bytes after a chunk in which the next one usually begins


class Described(NamedTuple):
    """A chunk as a component described it; the offsets count bytes."""

    start: int
    end: int
    id: str = ""
    parent: str = ""
    metadata: Mapping[str, Json] = {}


@functools.cache
def _engine() -> wasmtime.Engine:
    config = wasmtime.Config()
    config.consume_fuel = True
    config.memory_reservation = MEMORY  # by default 4 GB of addresses, more than a limited process has
    config.memory_reservation_for_growth = 0
    config.memory_guard_size = 1 << 16
    config.memory_may_move = False
    config.memory_init_cow = False  # it would make a file, which a limited process may not
    return wasmtime.Engine(config)


def compiled(module: bytes) -> wasm.Component:
    """Return a component, compiled for this machine; raise ReadingError if it is not a chunker."""
    if not module.startswith(MAGIC):
        raise ReadingError("it is no WebAssembly component")
    try:
        component = wasm.Component(_engine(), module)
    except wasmtime.WasmtimeError as error:
        raise ReadingError(f"it cannot be compiled: {str(error).strip().splitlines()[0][:200]}") from error
    _form(component)
    return component


@functools.lru_cache(maxsize=4)
def load(path: str, native: str, most: int) -> wasm.Component:
    """Return the component in a file, from its native code if that is there and fits; raise ReadingError."""
    try:
        return wasm.Component.deserialize_file(_engine(), native)
    except wasmtime.WasmtimeError:  # of another version, or gone
        return compiled(files.read(path, most=most) or b"")


def _form(component: wasm.Component) -> str:
    """Return the form of a component; raise ReadingError if it has none."""
    for form, cut in FORMS.items():
        interface = component.get_export_index(INTERFACE.format(form))
        if interface and all(component.get_export_index(name, interface) for name in ("analyze", cut)):
            return form
    raise ReadingError(f"it exports neither {' nor '.join(map(INTERFACE.format, FORMS))} with its functions")


def pieces(component: wasm.Component, reading: Reading, config: ChunkerConfig) -> tuple[list[Piece], int]:
    """Return the pieces that a component cuts a text into, and their longest length; raise ReadingError if it fails."""
    data = reading.text.encode("utf-8", "replace")
    form, text = _form(component), data.decode()
    store, linker = wasmtime.Store(_engine()), wasm.Linker(_engine())
    store.set_fuel(FUEL + FUEL_A_BYTE * len(data))
    store.set_limits(memory_size=MEMORY, table_elements=1_000_000, instances=100, tables=20, memories=4)
    try:
        linker.define_unknown_imports_as_traps(component)
        instance = linker.instantiate(store, component)
        interface = instance.get_export_index(store, INTERFACE.format(form))
        indexes = (instance.get_export_index(store, name, interface) for name in ("analyze", FORMS[form]))
        analyze, cut = (instance.get_func(store, index) for index in indexes if index)
        if analyze is None or cut is None:
            raise TypeError(form)
        settings = analyze(store, text[:SAMPLE], reading.language or reading.type)
        options = {**dict(getattr(settings, "custom-params")), **config.options}
        setattr(settings, "custom-params", [(name, str(value)) for name, value in options.items()])
        setattr(settings, "max-chunk-size", config.max_chars or getattr(settings, "max-chunk-size"))
        described = (from_offsets if form == "offsets" else from_records)(cut(store, text, settings), data)
        return pieces_of(described, data, reading), int(getattr(settings, "max-chunk-size"))
    except (wasmtime.WasmtimeError, wasmtime.Trap, UnicodeDecodeError) as error:
        raise ReadingError(_reason(error)) from error
    except OTHER_TYPES as error:
        raise ReadingError("its functions have other types than chunker.wit says") from error


def _reason(error: Exception) -> str:
    """Return why a component failed, in words for its user."""
    table = files.read(os.path.join(os.path.dirname(__file__), "failures.txt")) or b""
    rows = (line.split(" = ") for line in table.decode().splitlines()[1:])
    last = str(error).strip().splitlines()[-1].strip()[:200]
    return next((reason for mark, reason in rows if mark in str(error)), last)


# --- the chunks that it describes ---


def from_offsets(answer: object, data: bytes) -> list[Described]:
    """Return the chunks of a JSON list; raise ReadingError if the answer is not one."""
    if not isinstance(answer, str):
        raise TypeError(answer)
    if len(answer) > LEAST_ANSWER + ANSWER_A_BYTE * len(data):
        raise ReadingError(f"it returned {len(answer):,} characters for a file of {len(data):,} bytes")
    try:
        rows = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise ReadingError("it returned no JSON, or none that can be read") from error
    if not isinstance(rows, list):
        raise ReadingError("it returned JSON that is no list")
    return [_described(number, row) for number, row in enumerate(rows, 1)]


def _described(number: int, row: object) -> Described:
    fields = {name: row[name] for name in Described._fields if row.get(name)} if isinstance(row, dict) else {}
    described = Described(**{"start": 0, "end": 0, **fields})
    if not all(type(value) is kind for value, kind in zip(described, (int, int, str, str, dict), strict=True)):
        raise ReadingError(f"chunk {number} is no object with start and end as whole numbers, and ids as texts")
    return described


def from_records(records: Sequence[Any], data: bytes) -> list[Described]:
    """Return where the chunks of a list of records are; raise ReadingError if one is nowhere in the text."""
    owners = {child: record.id for record in records for child in record.children}
    missing = owners.keys() - {record.id for record in records}
    if missing:
        raise ReadingError(f"there is no chunk {min(missing)[:LONGEST_ID]!r}, which another one has as its child")
    cursors = {"": (0, 0)}  # for each parent, where its last child begins and ends
    described = []
    for number, record in enumerate(records, 1):
        parent = getattr(record, "parent-id") or owners.get(record.id, "")
        content = record.content.encode()
        start = _place(data, content, *cursors.get(parent, cursors[""]))
        if start < 0:
            raise ReadingError(f"the content of chunk {number} is not in the text")
        cursors[parent] = start, start + len(content)
        cursors.setdefault(record.id, (start, start))
        described.append(Described(start, start + len(content), record.id, parent, dict(record.metadata)))
    return described


def _place(data: bytes, content: bytes, last_start: int, last_end: int) -> int:
    """Return where a content is: after the one before it, overlapping that, further on, or anywhere; else -1."""
    ways = (
        (last_end, last_end + len(content) + NEAR),
        (last_start, last_end + len(content)),
        (last_end, len(data)),
        (0, len(data)),
    )
    return next((start for low, high in ways if (start := data.find(content, low, high)) >= 0), -1)


def pieces_of(described: Iterable[Described], data: bytes, reading: Reading) -> list[Piece]:
    """Return the pieces that a component found, in the order of the text; raise ReadingError for an invalid one."""
    ordered = sorted(described, key=lambda chunk: (chunk.start, -chunk.end))
    outside = next((chunk for chunk in ordered if not 0 <= chunk.start <= chunk.end <= len(data)), None)
    if outside:
        raise ReadingError(f"a chunk is from {outside.start} to {outside.end}, but the text has {len(data)} bytes")
    places = _characters(data, {offset for chunk in ordered for offset in chunk[:2]})
    numbers: dict[str, int] = {"": -1}  # for each id, its piece, or that of its parent if it is blank
    kept: list[Piece] = []
    for chunk in ordered:
        _check(chunk, numbers)
        start, end, parent = places[chunk.start], places[chunk.end], numbers[chunk.parent]
        is_blank = not reading.text[start:end].strip()
        if chunk.id:
            numbers[chunk.id] = parent if is_blank else len(kept)
        if not is_blank:
            heading = chunk.metadata.get("heading") or (kept[parent].node.symbol if parent >= 0 else reading.title)
            kind = str(chunk.metadata.get("kind") or "")
            kept.append(Piece(start, end, Node(start, end, kind, chunk.id, str(heading), (), chunk.metadata), parent))
    return kept


def _check(chunk: Described, numbers: Mapping[str, int]) -> None:
    texts = [chunk.id, *(text for pair in chunk.metadata.items() for text in map(str, pair))]
    if len(chunk.id) > LONGEST_ID or len(texts) > MOST_TEXTS or max(map(len, texts)) > LONGEST_TEXT:
        raise ReadingError("the id or the metadata of a chunk are too long")
    if not all(text == text.encode("utf-8", "replace").decode() for text in texts):
        raise ReadingError("the id or the metadata of a chunk are no Unicode")
    if chunk.id and chunk.id in numbers:
        raise ReadingError(f"two chunks have the id {chunk.id!r}")
    if chunk.parent not in numbers:
        raise ReadingError(
            f"no chunk before it has the id {chunk.parent[:LONGEST_ID]!r}, which a chunk has as its parent"
        )


def _characters(data: bytes, offsets: set[int]) -> dict[int, int]:
    """Return how many characters stand before each of some offsets in bytes."""
    if data.isascii():
        return {offset: offset for offset in offsets}
    numbers, last, count = {}, 0, 0
    for offset in sorted(offsets):
        try:
            count += len(data[last:offset].decode())
        except UnicodeDecodeError as error:
            raise ReadingError(f"the position {offset} is inside a character") from error
        numbers[offset], last = count, offset
    return numbers
