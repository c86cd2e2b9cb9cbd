"""Measure the recall of a large catalog's lists compared with a full scan, and what either costs.

    python bench/recall.py --questions FILE [--most 150000] FOLDER…

The passages are those of all text files below the folders (`/usr/share/doc` will do), the questions are the lines of a
`queries.jsonl`. It prints recall@10: how many of the ten passages with the highest cosines a search has among the best
ten of those that it compares exactly. Static vectors; `scan` is the same search without lists.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import tempfile
import time
from typing import TYPE_CHECKING

from deia.compile.catalog.vectors import Encoder, VectorWriter
from deia.ingest.chunkers.markdown import chunk_document
from deia.knowledge import Document
from deia.match import ivf, vector_store
from deia.match.numerics import np
from deia.match.tiers import open_tier
from deia.match.vector_store import Vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST = 400_000  # bytes of a file
DEPTH = 10
QUESTIONS = 200
SEED = 20


def documents(folders: Sequence[str]) -> Iterator[Document]:
    """Read every file that is text, packed or not."""
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in sorted(names):
                path = os.path.join(place, name)
                text = content(path)
                if text:
                    yield Document(path=path, title=name, text=text)


def content(path: str) -> str:
    """Return a file's text, or nothing if it is not text."""
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            data = file.read(LONGEST)
    except (OSError, EOFError):
        return ""
    return "" if b"\0" in data else data.decode("utf-8", "replace")


def write(folder: str, folders: Sequence[str], most: int) -> Vectors:
    """Write the vectors of up to so many passages, no two alike."""
    writer, encoder, seen = VectorWriter(folder, "static"), Encoder("static"), set[str]()
    for document in documents(folders):
        chunks = [chunk for chunk in chunk_document(document, id=document.path) if chunk.text not in seen]
        seen.update(chunk.text for chunk in chunks)
        if chunks:
            writer.put_coded(encoder.of([document.title], [[chunk.text for chunk in chunks]]))
        if len(seen) >= most:
            break
    writer.close()
    return Vectors(folder, tier="static", dimensions=open_tier("static").dimensions)


def recall(held: Vectors, asked: Sequence[Sequence[float]], best: Sequence[set[int]], most: int) -> str:
    """Search for every question; return how much of the best was found, and how long one took."""
    tier, kept, taken = open_tier("static"), 0, []
    for vector, wanted in zip(asked, best, strict=True):
        began = time.perf_counter()
        near = held.near(vector, most=most)
        cosines = tier.similarities(vector, held.passages(near))
        taken.append(time.perf_counter() - began)
        ordered = sorted(zip(cosines, near, strict=True), reverse=True)[:DEPTH]
        kept += len(wanted & {passage for _, passage in ordered})
    return f"recall@{DEPTH} {kept / DEPTH / len(asked):.3f}  {statistics.median(taken) * 1e3:.2f} ms"


def exact(held: Vectors, asked: Sequence[Sequence[float]]) -> list[set[int]]:
    """Return the best passages of all for every question."""
    tier, codes = open_tier("static"), held.passages(range(len(held)))
    cosines = [np.array(tier.similarities(vector, codes)) for vector in asked]
    return [set(np.argpartition(-each, DEPTH)[:DEPTH].tolist()) for each in cosines]


def main() -> None:
    """Measure a scan, and lists of which more and more are read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", required=True)
    parser.add_argument("--most", type=int, default=150_000, help="passages")
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    with open(given.questions, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file if line.strip()]
    asked = [open_tier("static").encode(text) for text in random.Random(SEED).sample(texts, min(QUESTIONS, len(texts)))]
    with tempfile.TemporaryDirectory() as folder:
        held = write(folder, given.folders, given.most)
        count = len(held.lists) if held.lists else 0
        print(f"{len(held):,} passages in {count} lists", flush=True)
        best, usual = exact(held, asked), ivf.PROBED
        for most in (90, 400):
            for probed in (usual // 4, usual, 4 * usual):
                ivf.PROBED = probed
                print(f"best {most} of {probed:>3} lists  {recall(held, asked, best, most)}", flush=True)
        os.remove(os.path.join(folder, f"static.{ivf.LISTS}"))
        vector_store.MOST_SCANNED = len(held)
        scanned = Vectors(folder, tier="static", dimensions=held.dimensions)
        for most in (90, 400):
            print(f"best {most} of a scan      {recall(scanned, asked, best, most)}", flush=True)


if __name__ == "__main__":
    main()
