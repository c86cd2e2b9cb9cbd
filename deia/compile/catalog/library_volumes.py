"""The documents of the library as volumes of the catalog: cut already, and read only when they are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from deia.compile.catalog.document_store import DIGEST_SIZE, Volume, described_volume
from deia.ingest.library_store import Library, Shelved
from deia.ingest.reading import ASSETS
from deia.knowledge import Document, Entry


def library_volumes(library: Library, *, since: int = -1) -> list[Volume]:
    """Return the documents of the library without their texts, or those that changed after a revision."""
    return [_volume(shelved) for shelved in library.documents(since)]


def _volume(shelved: Shelved) -> Volume:
    entry = Entry(
        id=shelved.id, path=shelved.id, title=shelved.title, tags=shelved.tags, updated=shelved.updated,
        extra={"type": [shelved.type, ASSETS.get(shelved.type, "text")]},
    )  # fmt: skip
    known = blake2b(repr(shelved).encode("utf-8", "replace"), digest_size=DIGEST_SIZE).digest()
    document = Document(path=shelved.id, title=shelved.title, text="")
    return described_volume(entry, document).but(content=shelved.content, known=known)


def filled(library: Library | None, volumes: Sequence[Volume]) -> list[Volume]:
    """Return volumes with their texts and chunks."""
    return [_filled(library, volume) if library and volume.content else volume for volume in volumes]


def _filled(library: Library, volume: Volume) -> Volume:
    kept = library.kept(volume.content)
    return volume.but(document=volume.document.but(text=kept.text), rows=kept.rows)
