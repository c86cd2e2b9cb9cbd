"""Measure what a growing commons costs: compiling, memory, one changed document, and a question, compared with others.

    python bench/scale.py [--sizes 1000,10000,100000] [--rounds 60] [--words 170] [--compact]

A document is one chunk of generated text with the word frequencies of a language; the questions are those of
bench/search.py. Every size is compiled in a process of its own, to measure its own peak of memory. deia in the static
tier is compared with SQLite FTS5, bm25s if it is installed, and all word vectors compared with the question by numpy,
each in the same process on the same texts, questions interleaved and on one processor. The others only rank, while
deia's figure is a whole answer. Each median of elapsed time is shown beside one of processor time, which a busy machine
changes less. "cold" is a process that opens the catalog, answers and ends, interleaved with an empty one, "bare". With
--compact the sentence model's tier is measured too, with random vectors of passages: real ones take an hour for a
hundred thousand, and the cost of a question does not depend on their values.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from search import WORDS, corpus, environment, questions, seconds

from deia.compile.catalog.build_catalog import build_catalog
from deia.compile.catalog.effort import TIERS, Effort
from deia.compile.catalog.embeddings import VectorCache, text_key
from deia.ingest.chunkers.markdown import chunk_document
from deia.knowledge import Entry, Query
from deia.match.passage_vectors import subject
from deia.match.tiers import open_tier
from deia.match.tokeniser import spelled_out
from deia.search.catalog import open_catalog
from deia.search.pipeline import search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from deia.knowledge import Document

COMPACT = "compact"
SHOWN = {"deia": "deia static", COMPACT: "deia compact", "fts5": "SQLite FTS5", "numpy": "word vectors by numpy"}
SEED = 20
MOST_ELSEWHERE = 100_000  # documents for which the others are built too
COLD = 20  # processes of each kind
ANSWER = """\
import os, sys
from deia.knowledge import Query
from deia.search.pipeline import search
from deia.search.catalog import open_catalog
answer = search(open_catalog(sys.argv[1]), Query(text=sys.argv[2]), tiers=tuple(sys.argv[3:]))
print(*[result.id for result in answer.primary], flush=True)
os._exit(0)
"""


def entry(document: Document) -> Entry:
    """Return a document's entry."""
    return Entry(id=document.path, path=document.path, title=document.title)


def grow(size: int, place: str, rounds: int, words: int, *, compact: bool) -> dict[str, float]:
    """Compile, compile again with one document changed, ask; return the cost of each."""
    documents = list(corpus(size, words))
    entries = [entry(each) for each in documents]
    held = _peak()
    folders = [os.path.join(place, f"{size}-{name}") for name in ("whole", "changed")]
    found: dict[str, float] = {}
    for name, folder in zip(("whole", "changed"), folders, strict=True):
        os.makedirs(folder)
        previous = folders[0] if name == "changed" else None
        began, worked = time.perf_counter(), _worked()
        build_catalog(entries, documents, [], [], folder, previous=previous)
        found[f"{name} s"], found[f"{name} cpu s"] = time.perf_counter() - began, _worked() - worked
        found.setdefault("compile MB", _peak() - held)
        documents[size // 2] = documents[size // 2].but(text="entirely other words stand here now")
    found["chunks/s"] = size / found["whole s"]
    found["disk MB"] = sum(catalog_sizes(folders[0])) / 1e6
    catalog = open_catalog(folders[0])
    asked: dict[str, Callable[[str], object]] = {"deia": _answers(catalog, TIERS)}
    if size <= MOST_ELSEWHERE:
        asked |= _elsewhere(documents, catalog)
    with _one_processor():
        found |= _asked(asked, rounds)
    found |= _cold(folders[0], TIERS)
    return {**found, **(_compact(documents, place, rounds) if compact else {})}


def _answers(catalog: Any, tiers: Sequence[str]) -> Callable[[str], object]:
    return lambda text: search(catalog, Query(text=text), tiers=tuple(tiers))


def _compact(documents: Sequence[Document], place: str, rounds: int) -> dict[str, float]:
    """Compile with random vectors of the sentence model's tier, and ask in that tier, warm and cold."""
    from deia.match.numerics import np  # noqa: PLC0415 - likewise
    from deia.match.quantised import quantised  # noqa: PLC0415 - the first figures are taken without numpy

    tier, folder, entries = open_tier(COMPACT), os.path.join(place, COMPACT), [entry(each) for each in documents]
    kept, chance = VectorCache(f"{folder}.codes", dimensions=tier.dimensions), np.random.default_rng(SEED)
    for each, document in zip(entries, documents, strict=True):
        chunks = chunk_document(document, id=document.path)
        texts = [spelled_out(subject(each)), *(chunk.text for chunk in chunks)]
        drawn = chance.standard_normal((len(texts), tier.dimensions)).astype("f4")
        drawn /= np.sqrt((drawn * drawn).sum(1, keepdims=True))
        kept.add([text_key(tier.digest, text) for text in texts], quantised(drawn))
    os.makedirs(folder)
    build_catalog(entries, documents, [], [], folder, tiers=(*TIERS, COMPACT), effort=Effort(cache=f"{folder}.codes"))
    with _one_processor():
        found = _asked({COMPACT: _answers(open_catalog(folder), (COMPACT,))}, rounds)
    return {**found, **{f"{COMPACT} {name}": value for name, value in _cold(folder, (COMPACT,)).items()}}


@contextlib.contextmanager
def _one_processor() -> Iterator[None]:
    """Use only one processor meanwhile, if the system supports it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _worked() -> float:
    """Return the CPU time so far, of this process and of those that ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)


def catalog_sizes(folder: str) -> list[int]:
    """Return the sizes of a catalog's files in bytes."""
    return [os.stat(os.path.join(top, name)).st_size for top, _, names in os.walk(folder) for name in names]


def _cold(folder: str, tiers: Sequence[str]) -> dict[str, float]:
    """Start processes that answer one question, and empty ones, in turn."""
    taken: dict[str, list[float]] = {"cold ms": [], "bare ms": []}
    with tempfile.TemporaryDirectory() as place:
        environ = environment(place)
        for number in range(COLD + 2):
            text = questions_[number % len(questions_)]
            taken["cold ms"].append(seconds([sys.executable, "-c", ANSWER, folder, text, *tiers], environ))
            taken["bare ms"].append(seconds([sys.executable, "-c", "pass"], environ))
    found = {name: statistics.median(every[2:]) * 1e3 for name, every in taken.items()}
    return {**found, "cold x bare": found["cold ms"] / found["bare ms"]}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _asked(programs: Mapping[str, Callable[[str], object]], rounds: int) -> dict[str, float]:
    """Ask all of them each question in turn; return the medians of elapsed time and of CPU time."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    for number in range(rounds + 10):
        text = questions_[number % len(questions_)]
        for name, ask in programs.items():
            began, worked = time.perf_counter(), time.process_time()
            ask(text)
            taken[name].append((time.perf_counter() - began, time.process_time() - worked))
    found: dict[str, float] = {}
    for name, every in taken.items():
        passed, worked_ = (statistics.median(column) * 1e3 for column in zip(*every[10:], strict=True))
        found |= {f"{name} ms": passed, f"{name} cpu ms": worked_}
    return found


questions_ = questions()


def _elsewhere(documents: Sequence[Document], catalog: Any) -> dict[str, Callable[[str], object]]:
    """Return the other engines with the same texts, by name."""
    found = {"fts5": _fts5(documents), "numpy": _vectors(catalog)}
    return {**found, "bm25s": _bm25s(documents)} if find_spec("bm25s") else found


def _fts5(documents: Sequence[Document]) -> Callable[[str], object]:
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table d using fts5(id unindexed, title, body, tokenize='porter')")
    database.executemany("insert into d values (?,?,?)", [(each.path, each.title, each.text) for each in documents])
    asked = "select id from d where d match ? order by bm25(d) limit 5"

    def ask(text: str) -> object:
        return database.execute(asked, (" OR ".join(f'"{word}"' for word in text.split()),)).fetchall()

    return ask


def _vectors(catalog: Any) -> Callable[[str], object]:
    from deia.match.numerics import np  # noqa: PLC0415 - the first figures are taken without
    from deia.match.tiers import open_tier  # noqa: PLC0415 - likewise

    tier, vectors = open_tier("static"), catalog.vectors("static")
    floats = np.frombuffer(vectors.passages(range(len(vectors))), "u1").reshape(len(vectors), -1).astype("f4") - 128

    def ask(text: str) -> object:
        likely = floats @ np.array(tier.encode(text), "f4")
        return np.argpartition(-likely, 5)[:5]

    return ask


def _bm25s(documents: Sequence[Document]) -> Callable[[str], object]:
    import bm25s  # type: ignore[import-not-found]  # noqa: PLC0415 - only where it is installed

    index = bm25s.BM25()
    index.index(bm25s.tokenize([each.text for each in documents], show_progress=False), show_progress=False)

    def ask(text: str) -> object:
        return index.retrieve(bm25s.tokenize(text, show_progress=False), k=5, show_progress=False)

    return ask


def _lines(told: Mapping[str, float]) -> Iterator[str]:
    """Print the measurements, one line for each."""
    for name in ("whole", "changed"):
        yield f"compile, {name:8} {told[f'{name} s']:8.2f} s   {told[f'{name} cpu s']:8.2f} s of work"
    yield f"{told['chunks/s']:,.0f} chunks/s, {told['compile MB']:,.0f} MB of memory, {told['disk MB']:,.0f} MB on disk"
    for key, value in told.items():
        name = key.removesuffix(" cpu ms")
        if name != key:
            yield f"warm, {SHOWN.get(name, name):24} {told[f'{name} ms']:8.2f} ms   {value:8.2f} ms of work"
    for name in ("", f"{COMPACT} "):
        if f"{name}cold ms" in told:
            cold, bare, ratio = (told[f"{name}{each}"] for each in ("cold ms", "bare ms", "cold x bare"))
            yield f"cold, deia {name or 'static '}{cold:8.1f} ms   bare {bare:.1f} ms   {ratio:.2f} x bare"


def main() -> None:
    """Measure every size in a process of its own, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--words", type=int, default=WORDS, help="of a document")
    parser.add_argument("--compact", action="store_true", help="ask by the sentence model's tier, too")
    parser.add_argument("--one", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        with tempfile.TemporaryDirectory() as place:
            print(json.dumps(grow(given.one, place, given.rounds, given.words, compact=given.compact)))
        return
    if not find_spec("bm25s"):
        print("bm25s is not installed, and not among these; to have it: python -m pip install bm25s", flush=True)
    for size in given.sizes.split(","):
        command = [sys.executable, __file__, "--one", size, "--rounds", str(given.rounds)]
        command += ["--words", str(given.words), *(["--compact"] if given.compact else [])]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(f"{int(size):,} chunks", *_lines(told), sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
