"""Encode the passages of the starter commons with the sentence model, so that a fresh install can use it at once.

    python tools/starter_codes.py

Writes deia/models/starter.codes: for each text a key of 16 bytes and its vector, one byte per dimension, in the order
of the keys. Existing vectors are kept, so a change of one document takes a moment. Run it whenever the starter or the
model changed; tests/compile/catalog/test_embeddings.py fails until then.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from deia import files
from deia.commons.layers.merge_layers import load_layered
from deia.compile.catalog.document_store import volumes
from deia.compile.catalog.effort import TIER
from deia.compile.catalog.embeddings import STARTER as FILE
from deia.compile.catalog.embeddings import VectorCache, text_key
from deia.folders import STARTER
from deia.ingest.chunkers.markdown import chunk_document
from deia.match import quantised
from deia.match.encoding import encoded_by
from deia.match.passage_vectors import subject
from deia.match.tiers import open_tier
from deia.match.tokeniser import spelled_out

if TYPE_CHECKING:
    from collections.abc import Iterator


def starter_texts() -> Iterator[str]:
    """Yield every text of the starter commons that is encoded."""
    commons = load_layered(STARTER, starter=True, trusted=True)
    for volume in volumes(commons.entries, commons.documents):
        yield spelled_out(subject(volume.entry))
        yield from (chunk.text for chunk in chunk_document(volume.document, id=volume.entry.id))


def main() -> None:
    """Encode what is missing, and write the file."""
    tier = open_tier(TIER)
    texts = {text_key(tier.digest, text): text for text in starter_texts()}
    kept = VectorCache("", dimensions=tier.dimensions)
    missing = [key for key in texts if key not in kept]
    began = time.perf_counter()
    if missing:
        kept.add(missing, quantised.quantised(encoded_by(tier, [texts[key] for key in missing])))
    files.replace(FILE, b"".join(key + kept.of([key]) for key in sorted(texts)))
    print(f"{len(texts)} texts, {len(missing)} of them encoded, in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
