"""Chunkers in WebAssembly: components of `chunker.wit`, run with nothing of this machine within their reach.

Whatever a component imports is a trap: there are no files, no network, no clock and no chance. Its instructions are
counted (fuel), so that a file fails or succeeds on every machine alike; its memory and what it may hand over are
limited. Each file gets a new instance. `reader_process` bounds the time of the rest. What a component says of its
chunks is believed only as far as it is inside the text, at whole characters, with ids that are unique and parents.
"""

from __future__ import annotations

import functools
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import wasmtime
from wasmtime import component as wasm

from deia import files
from deia.ingest.chunkers.pieces import Node, Piece
from deia.ingest.reading import ReadingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deia.fast_json import Json
    from deia.ingest.reading import ChunkerConfig, Reading

MAGIC = b"\0asm\x0d\0\x01\0"
MEMORY = 256 << 20  # bytes of one linear memory, of which a component may have a few
FUEL, FUEL_A_BYTE = 250_000_000, 1_000  # instructions; a core runs about a thousand million a second
SAMPLE = 65_536  # characters that `analyze` sees
INTERFACE = "deia:chunker/{}@1.0.0"
FORMS = {"offsets": "chunk-offsets", "chunking": "chunk-file"}
OTHER_TYPES = (TypeError, ValueError, AttributeError, LookupError, NotImplementedError, AssertionError)
MOST_TEXTS, LONGEST_ID, LONGEST_TEXT = 100, 200, 1000  # in the metadata of a chunk, and characters of each
LEAST_ANSWER, ANSWER_A_BYTE = 1_000_000, 8  # characters of the JSON that is read
NEAR = 4096  # bytes after a chunk in which the next one usually begins


class Said(NamedTuple):
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
    config.memory_init_cow = False  # it makes a file, which a limited process may not
    return wasmtime.Engine(config)


def compiled(module: bytes) -> wasm.Component:
    """Return a component, compiled for this machine; raise ReadingError if it is none of a chunker."""
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
    """Return which form a component has; raise ReadingError if it has none."""
    for form, cut in FORMS.items():
        interface = component.get_export_index(INTERFACE.format(form))
        if interface and all(component.get_export_index(name, interface) for name in ("analyze", cut)):
            return form
    raise ReadingError(f"it exports neither {' nor '.join(map(INTERFACE.format, FORMS))} with its functions")


def pieces(component: wasm.Component, reading: Reading, config: ChunkerConfig) -> tuple[list[Piece], int]:
    """Return what a component finds in a text, and how long its chunks may be; raise ReadingError if it fails."""
    data = reading.text.encode("utf-8", "replace")
    form, text = _form(component), data.decode()
    store, linker = wasmtime.Store(_engine()), wasm.Linker(_engine())
    store.set_fuel(FUEL + FUEL_A_BYTE * len(data))
    store.set_limits(memory_size=MEMORY, table_elements=1_000_000, instances=100, tables=20, memories=4)
    try:
        linker.define_unknown_imports_as_traps(component)
        instance = linker.instantiate(store, component)
        interface = instance.get_export_index(store, INTERFACE.format(form))
        found = (instance.get_export_index(store, name, interface) for name in ("analyze", FORMS[form]))
        analyze, cut = (instance.get_func(store, index) for index in found if index)
        if analyze is None or cut is None:
            raise TypeError(form)
        settings = analyze(store, text[:SAMPLE], reading.language or reading.type)
        given = {**dict(getattr(settings, "custom-params")), **config.options}
        setattr(settings, "custom-params", [(name, str(value)) for name, value in given.items()])
        setattr(settings, "max-chunk-size", config.max_chars or getattr(settings, "max-chunk-size"))
        said = (from_offsets if form == "offsets" else from_records)(cut(store, text, settings), data)
        return pieces_of(said, data, reading), int(getattr(settings, "max-chunk-size"))
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


# --- what it says ---


def from_offsets(answer: Any, data: bytes) -> list[Said]:
    """Return the chunks of a JSON list; raise ReadingError if it is none."""
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
    return [_said(number, row) for number, row in enumerate(rows, 1)]


def _said(number: int, row: Any) -> Said:
    fields = {name: row[name] for name in Said._fields if row.get(name)} if isinstance(row, dict) else {}
    said = Said(**{"start": 0, "end": 0, **fields})
    if not all(type(value) is kind for value, kind in zip(said, (int, int, str, str, dict), strict=True)):
        raise ReadingError(f"chunk {number} is no object with start and end as whole numbers, and ids as texts")
    return said


def from_records(records: Sequence[Any], data: bytes) -> list[Said]:
    """Return where the chunks of a list of records are; raise ReadingError if one is nowhere in the text."""
    owners = {child: record.id for record in records for child in record.children}
    missing = owners.keys() - {record.id for record in records}
    if missing:
        raise ReadingError(f"there is no chunk {min(missing)[:LONGEST_ID]!r}, which another one has as its child")
    cursors = {"": (0, 0)}  # of each parent: where its last child begins and ends
    said = []
    for number, record in enumerate(records, 1):
        parent = getattr(record, "parent-id") or owners.get(record.id, "")
        content = record.content.encode()
        start = _place(data, content, *cursors.get(parent, cursors[""]))
        if start < 0:
            raise ReadingError(f"the content of chunk {number} is not in the text")
        cursors[parent] = start, start + len(content)
        cursors.setdefault(record.id, (start, start))
        said.append(Said(start, start + len(content), record.id, parent, dict(record.metadata)))
    return said


def _place(data: bytes, content: bytes, before: int, at: int) -> int:
    """Return where a content is: after the one before it, overlapping that, further on, or anywhere; else -1."""
    ways = ((at, at + len(content) + NEAR), (before, at + len(content)), (at, len(data)), (0, len(data)))
    return next((start for low, high in ways if (start := data.find(content, low, high)) >= 0), -1)


def pieces_of(said: Iterable[Said], data: bytes, reading: Reading) -> list[Piece]:
    """Return the pieces that a component found, in the order of the text; raise ReadingError if they cannot be."""
    ordered = sorted(said, key=lambda one: (one.start, -one.end))
    outside = next((one for one in ordered if not 0 <= one.start <= one.end <= len(data)), None)
    if outside:
        raise ReadingError(f"a chunk is from {outside.start} to {outside.end}, but the text has {len(data)} bytes")
    places = _characters(data, {offset for one in ordered for offset in one[:2]})
    numbers: dict[str, int] = {"": -1}  # of each id: its piece, or that of its parent if it is blank itself
    found: list[Piece] = []
    for one in ordered:
        _check(one, numbers)
        start, end, parent = places[one.start], places[one.end], numbers[one.parent]
        is_blank = not reading.text[start:end].strip()
        if one.id:
            numbers[one.id] = parent if is_blank else len(found)
        if not is_blank:
            heading = one.metadata.get("heading") or (found[parent].node.symbol if parent >= 0 else reading.title)
            kind = str(one.metadata.get("kind") or "")
            found.append(Piece(start, end, Node(start, end, kind, one.id, str(heading), (), one.metadata), parent))
    return found


def _check(one: Said, numbers: Mapping[str, int]) -> None:
    texts = [one.id, *(text for pair in one.metadata.items() for text in map(str, pair))]
    if len(one.id) > LONGEST_ID or len(texts) > MOST_TEXTS or max(map(len, texts)) > LONGEST_TEXT:
        raise ReadingError("the id or the metadata of a chunk are too long")
    if not all(text == text.encode("utf-8", "replace").decode() for text in texts):
        raise ReadingError("the id or the metadata of a chunk are no Unicode")
    if one.id and one.id in numbers:
        raise ReadingError(f"two chunks have the id {one.id!r}")
    if one.parent not in numbers:
        raise ReadingError(
            f"no chunk before it has the id {one.parent[:LONGEST_ID]!r}, which a chunk has as its parent"
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
