"""The door to the chunkers that a person added: declared ones, and components in WebAssembly."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from deia import files
from deia.ingest.chunkers.pieces import Cut, chunks_from
from deia.ingest.reading import ChunkerConfig, Reading, ReadingError
from deia.knowledge import Chunk
from deia.records import Record

LIBRARY = "wasmtime"
DECLARED, COMPONENT = ".toml", ".wasm"  # how the file of a chunker ends
LARGEST = {DECLARED: 100_000, COMPONENT: 64_000_000}  # bytes


class CustomChunker(Record):
    """A chunker of the person's own: where it is, and where its native code is if it has some."""

    name: str
    path: str
    native: str = ""
    hash: str = ""  # of its content
    files: tuple[str, ...] = ()  # globs of the files that it cuts


def custom_chunker(custom: CustomChunker) -> Callable[[Reading, str, ChunkerConfig], list[Chunk]]:
    """Return what cuts a reading by a chunker, ready to run; raise ReadingError if it cannot be used."""
    from deia.ingest.custom import declared as rules  # noqa: PLC0415 - 9 ms that nobody needs who has no chunkers

    if not custom.path.endswith(COMPONENT):
        declared = rules.parsed((files.read(custom.path, most=LARGEST[DECLARED]) or b"").decode("utf-8", "replace"))
        return lambda reading, document, config: rules.cut_declared(declared, reading, document, config)
    runner = component_runner()
    component = runner.load(custom.path, custom.native, LARGEST[COMPONENT])

    def cut_by_component(reading: Reading, document: str, config: ChunkerConfig) -> list[Chunk]:
        pieces, size = runner.pieces(component, reading, config)
        cut = Cut(limit=max(rules.SHORTEST, min(size or rules.LIMIT, rules.LONGEST)), borders=rules.BORDERS)
        if not pieces and reading.text.strip():
            raise ReadingError("it found no chunk in the text")
        empty = Chunk(document=document, ordinal=0, heading=reading.title, text="", lines=(1, 1))
        return list(chunks_from(reading, pieces, document, cut)) or [empty]

    return cut_by_component


def component_runner() -> ModuleType:
    """Return the module that runs components; raise ReadingError if the library for that is not installed."""
    try:
        from deia.ingest.custom import component  # noqa: PLC0415 - 45 ms and an extra, which only components need
    except ImportError as error:
        raise _no_library() from error
    return component


def runner_version() -> str:
    """Return the version of the library that runs components; raise ReadingError if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - 20 ms; likewise

    try:
        return version(LIBRARY)
    except PackageNotFoundError as error:
        raise _no_library() from error


def _no_library() -> ReadingError:
    return ReadingError(
        f"chunkers in WebAssembly need {LIBRARY}, which is not installed", fix="pip install 'deia[wasm]'"
    )
