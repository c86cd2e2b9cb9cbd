"""Encode the library with the sentence model, in a process that nobody waits for.

Vectors go to a cache as they are made, so whoever is killed loses a few seconds, and the next one goes on there. The
catalog gets them when all are there; until then, searches use word vectors. What searches showed most often is encoded
first.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from filelock import FileLock, Timeout

from deia import files
from deia.compile.catalog.document_store import filled, library_volumes
from deia.compile.catalog.effort import TIER, cache_path
from deia.compile.catalog.embeddings import VectorCache, encode_missing, text_key, texts_of
from deia.compile.catalog.prepare import chunks_of, passage_texts_of
from deia.compile.encoding_progress import Encoding, write_encoding
from deia.compile.encoding_start import plain_collections
from deia.compile.library_catalog import compile_library
from deia.compile.shared_encoding import encode_together
from deia.engines.work_queue import is_shared
from deia.errors import DeiaError
from deia.folders import collection_of, derived_folder, events_folder, is_trusted
from deia.ingest.library_store import Library, library_at
from deia.ledger.tail import read_ledger
from deia.match.tiers import open_tier
from deia.settings import resolve

READ_AT_ONCE = 200  # documents
LOCK = "encoding-lock"
NICENESS = 10


class _RemovedError(Exception):
    """Documents were removed whose texts were about to be encoded."""


def encode_library(root: str, environ: Mapping[str, str], *, tell: Callable[[str], None] | None = None) -> bool:
    """Encode the library of a commons and compile its catalog with the vectors; return whether another process does.

    Raise OSError if the cache cannot be written.
    """
    library = library_at(root, environ) if is_trusted(root, environ) else None
    if library is None:
        return False
    folder, choice = f"{derived_folder(root, environ)}/library", resolve(root, environ=environ)
    files.make_folders(folder)
    with library:
        try:
            with FileLock(f"{folder}/{LOCK}", timeout=0):
                revision = -1
                while revision != library.revision:  # more may have been taken in meanwhile
                    revision = library.revision
                    plain = plain_collections(library, choice.tier, choice.model) or ()
                    with suppress(_RemovedError):  # what is left is then counted anew
                        _encode(
                            library, folder, _by_use(root, environ), tell or (lambda _message: None), environ, plain
                        )
                        compile_library(root, environ, folder, encoded=True)
        except Timeout:
            return True
    return False


def _by_use(root: str, environ: Mapping[str, str]) -> Counter[object]:
    """Return how often searches showed each document."""
    events = read_ledger(events_folder(root, environ), event="query").events
    shown = (event.get("docs") for event in events)
    return Counter(document for documents in shown if isinstance(documents, list) for document in documents)


def _encode(
    library: Library, folder: str, uses: Counter[object], tell: Callable[[str], None], environ: Mapping[str, str],
    plain: Sequence[str],
) -> None:  # fmt: skip
    """Bring the vectors of all texts into the cache; raise _RemovedError if some are no longer in the library."""
    tier, revision = open_tier(TIER), library.revision
    cache = VectorCache(cache_path(folder), dimensions=tier.dimensions)
    texts = {text_key(tier.digest, text): text for text in _texts(library, uses, plain)}
    missing = {key: text for key, text in texts.items() if key not in cache}
    of, known = len(texts), len(texts) - len(missing)

    def show(share: float, left: float) -> None:
        """Write how far it is for others, and tell it."""
        encoding = Encoding(done=known + int(share * len(missing)), of=of, left=left, at=time.time())
        write_encoding(folder, encoding)
        tell(encoding.sentence(encoding.at))

    def show_if_wanted(share: float, left: float) -> None:
        if library.removed(revision):
            raise _RemovedError
        show(share, left)

    show(0.0, 0.0)
    if is_shared(environ) and missing:
        encode_together(tier, missing, cache, show, environ)
    else:
        encode_missing(tier, missing, cache, show_if_wanted)
    show(1.0, 0.0)


def _texts(library: Library, uses: Counter[object], plain: Sequence[str]) -> Iterator[str]:
    """Yield all texts that the catalog has vectors of, those of the documents that searches showed most often first."""
    waiting = [volume for volume in library_volumes(library) if collection_of(volume.entry.id) not in plain]
    volumes = sorted(waiting, key=lambda volume: -uses[volume.entry.id])
    for start in range(0, len(volumes), READ_AT_ONCE):
        for volume in filled(library, volumes[start : start + READ_AT_ONCE]):
            yield from texts_of(volume.entry, passage_texts_of(volume, chunks_of(volume)))


def main() -> int:
    """Encode the library of the commons that the argument names, beside everything else; return 2 if that fails."""
    if sys.platform != "win32":
        os.nice(NICENESS)
    try:
        encode_library(sys.argv[1], os.environ)
    except (DeiaError, OSError) as error:
        sys.stderr.write(f"{' '.join(str(error).split())}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
