"""The chunkers that a person added, and which of them cuts a file.

They are in the person's state folder, under the hash of their content; a chunker in a repository or a pack is only a
file and never runs. Native code is made here and nowhere else. It is in the person's cache, under the hash of the
module and the version of its compiler.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

from deia import files
from deia.folders import cache_folder, state_folder
from deia.ingest.custom.cutting import COMPONENT, DECLARED, LARGEST, CustomChunker, runner_version
from deia.ingest.reader_process import ReaderProcess
from deia.ingest.reading import STRATEGIES, ReadingError
from deia.ingest.source import SourceError, slug
from deia.ingest.source_kinds.globs_of_source import spec
from deia.typed_json import read_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.ingest.reading import ChunkerConfig

LIST = "chunkers.json"
COMPILING = 300.0  # seconds at most; Python itself, as a component, takes one for each MB


def folder_of(environ: Mapping[str, str]) -> str:
    """Return the person's folder of chunkers."""
    return f"{state_folder(environ)}/chunkers"


def added_chunkers(environ: Mapping[str, str]) -> list[CustomChunker]:
    """Return the chunkers that the person added, by name; raise SourceError if the list of them is damaged."""
    path = f"{folder_of(environ)}/{LIST}"
    try:
        rows = json.loads(files.read(path) or "[]")
        return sorted((read_record(CustomChunker, row) for row in rows), key=lambda chunker: chunker.name)
    except (ValueError, TypeError, RecursionError) as error:
        fix = "Remove that file and add your chunkers again."
        raise SourceError(f"the list of chunkers cannot be read: {error}", where=path, fix=fix) from error


def chunker_in(path: str, *, name: str = "", globs: Sequence[str] = ()) -> CustomChunker:
    """Return the chunker in a file that the person names; raise SourceError or ReadingError if there is none."""
    path = files.full(path)
    ending = next((ending for ending in LARGEST if path.endswith(ending)), "")
    content = files.read(path, most=LARGEST[ending]) if ending else None
    if content is None:
        fix = f"Name a declaration ({DECLARED}) or a component ({COMPONENT}) of at most {LARGEST[COMPONENT]:,} bytes."
        raise SourceError("there is no chunker", where=path, fix=fix)
    if ending == DECLARED:
        from deia.ingest.custom.declared import parsed  # noqa: PLC0415 - 9 ms, of use only to those with chunkers

        declared = parsed(content.decode("utf-8", "replace"), where=path)
        globs = globs or declared.files
    spec(globs)
    name = slug(name or path.rpartition("/")[2].removesuffix(ending))
    if not name or name in STRATEGIES:
        raise SourceError(f"a chunker cannot be called {name!r}", fix="Choose another --name")
    return CustomChunker(name=name, path=path, hash=sha256(content).hexdigest(), files=tuple(globs))


def add(chunker: CustomChunker, environ: Mapping[str, str]) -> CustomChunker:
    """Keep a chunker, in place of any with its name; raise ReadingError if it cannot be compiled."""
    with_native_code(chunker, environ)
    ending = COMPONENT if chunker.path.endswith(COMPONENT) else DECLARED
    kept = chunker.but(path=f"{folder_of(environ)}/{chunker.hash}{ending}")
    _keep(kept.path, files.read(chunker.path, most=LARGEST[ending]) or b"")
    _write([*(other for other in added_chunkers(environ) if other.name != kept.name), kept], environ)
    return kept


def remove(names: Sequence[str], environ: Mapping[str, str]) -> None:
    """Forget chunkers; raise SourceError and forget none if there is none of one of the names."""
    known = added_chunkers(environ)
    gone = [named(name, known) for name in names]
    others = [other for other in known if other not in gone]
    _write(others, environ)
    for path in {chunker.path for chunker in gone if chunker.hash not in {other.hash for other in others}}:
        files.remove(path)


def _write(chunkers: Sequence[CustomChunker], environ: Mapping[str, str]) -> None:
    _keep(f"{folder_of(environ)}/{LIST}", json.dumps([chunker.values() for chunker in chunkers], indent=1).encode())


def _keep(path: str, content: bytes) -> None:
    if not files.keep(path, content):
        raise SourceError("this file cannot be written", where=path, fix="Check permissions and space.")


def with_native_code(chunker: CustomChunker, environ: Mapping[str, str]) -> CustomChunker:
    """Return a chunker with its native code, compiled if it was not yet; raise ReadingError if it is damaged."""
    content = files.read(chunker.path, most=LARGEST[COMPONENT]) or b""
    if sha256(content).hexdigest() != chunker.hash:
        fix = f"Add it again, or type: deia chunker remove {chunker.name}"
        raise ReadingError(f"the chunker {chunker.name} is not what was added", where=chunker.path, fix=fix)
    if not chunker.path.endswith(COMPONENT):
        return chunker
    native = f"{cache_folder(environ)}/chunkers/{chunker.hash}-{runner_version()}"
    if not files.is_regular(native):
        with ReaderProcess(seconds=COMPILING) as process:  # a new one, which has read nothing else
            _keep(native, process.native_code(chunker.name, content))
    return chunker.but(native=native)


def named(name: str, chunkers: Sequence[CustomChunker]) -> CustomChunker:
    """Return the chunker of a name; raise SourceError if there is none."""
    chunker = next((chunker for chunker in chunkers if chunker.name == name), None)
    if chunker is None:
        own = ", ".join(chunker.name for chunker in chunkers) or "none"
        fix = f"Strategies are: {', '.join(STRATEGIES)}. Chunkers of your own: {own}."
        raise SourceError(f"there is no chunker {name!r}", fix=fix)
    return chunker


def chosen(path: str, config: ChunkerConfig, chunkers: Sequence[CustomChunker]) -> CustomChunker | None:
    """Return the person's chunker for a file: that of the source, or the first whose globs fit; None for deia's own."""
    if config.custom:
        return named(config.custom, chunkers)
    return None if config.strategy else next((added for added in chunkers if spec(added.files).match_file(path)), None)
