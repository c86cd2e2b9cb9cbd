"""What a growing commons costs: compiling, memory, one changed document, and a question in process, beside others.

    python bench/scale.py [--sizes 1000,10000,100000] [--rounds 60] [--words 170]

A document is one chunk of generated text whose words are as frequent as a language's, with the questions of
bench/search.py. Every size is compiled in a process of its own, so that its peak of memory is its own. Beside deia in
the static tier stand SQLite FTS5, bm25s where it is installed, and all word vectors held against the question by numpy,
each in the same process on the same texts; they rank and do no more, while deia's figure is a whole answer. "cold" is
a process that opens the catalog, answers and ends, in turn with an empty one, "bare".
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from search import WORDS, corpus, environment, questions, seconds

from deia.compile.catalog import build_catalog
from deia.knowledge import Entry, Query
from deia.search.ask import search
from deia.search.catalog import open_catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deia.knowledge import Document

MOST_ELSEWHERE = 100_000  # documents for which the others are built too
COLD = 20  # processes of each kind
ANSWER = """\
import os, sys
from deia.knowledge import Query
from deia.search.ask import search
from deia.search.catalog import open_catalog
answer = search(open_catalog(sys.argv[1]), Query(text=sys.argv[2]), tiers=("static",))
print(*[result.id for result in answer.primary], flush=True)
os._exit(0)
"""


def entry(document: Document) -> Entry:
    """Give a document's entry."""
    return Entry(id=document.path, path=document.path, title=document.title)


def grow(size: int, place: str, rounds: int, words: int) -> dict[str, float]:
    """Compile, compile again with one document changed, ask; give what each cost."""
    documents = list(corpus(size, words))
    entries = [entry(each) for each in documents]
    held = _peak()
    folders = [os.path.join(place, f"{size}-{name}") for name in ("whole", "changed")]
    found: dict[str, float] = {}
    for name, folder in zip(("whole", "changed"), folders, strict=True):
        os.makedirs(folder)
        previous = folders[0] if name == "changed" else None
        began = time.perf_counter()
        build_catalog(entries, documents, [], [], folder, previous=previous)
        found[f"{name} s"] = time.perf_counter() - began
        found.setdefault("compile MB", _peak() - held)
        documents[size // 2] = documents[size // 2].but(text="entirely other words stand here now")
    found["chunks/s"] = size / found["whole s"]
    found["disk MB"] = sum(catalog_sizes(folders[0])) / 1e6
    catalog = open_catalog(folders[0])
    found["deia ms"] = _asked(lambda text: search(catalog, Query(text=text), tiers=("static",)), rounds)
    found.update(_cold(folders[0]))
    if size <= MOST_ELSEWHERE:
        found.update(_elsewhere(documents, catalog, rounds))
    return found


def catalog_sizes(folder: str) -> list[int]:
    """Give the sizes of a catalog's files in bytes."""
    return [os.stat(os.path.join(top, name)).st_size for top, _, names in os.walk(folder) for name in names]


def _cold(folder: str) -> dict[str, float]:
    """Start processes that answer one question, and empty ones, in turn."""
    taken: dict[str, list[float]] = {"cold ms": [], "bare ms": []}
    with tempfile.TemporaryDirectory() as place:
        environ = environment(place)
        for number in range(COLD + 2):
            text = questions_[number % len(questions_)]
            taken["cold ms"].append(seconds([sys.executable, "-c", ANSWER, folder, text], environ))
            taken["bare ms"].append(seconds([sys.executable, "-c", "pass"], environ))
    found = {name: statistics.median(every[2:]) * 1e3 for name, every in taken.items()}
    return {**found, "cold x bare": found["cold ms"] / found["bare ms"]}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _asked(ask: Callable[[str], object], rounds: int) -> float:
    taken = []
    for number in range(rounds + 10):
        text = questions_[number % len(questions_)]
        began = time.perf_counter()
        ask(text)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[10:]) * 1e3


questions_ = questions()


def _elsewhere(documents: Sequence[Document], catalog: Any, rounds: int) -> dict[str, float]:
    """Ask the same of others that hold the same texts."""
    found = {"fts5 ms": _asked(_fts5(documents), rounds), "numpy ms": _asked(_vectors(catalog), rounds)}
    try:
        found["bm25s ms"] = _asked(_bm25s(documents), rounds)
    except ImportError:
        return found
    return found


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
    from deia.match.semantic import open_tier  # noqa: PLC0415 - likewise

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


def main() -> None:
    """Measure every size in a process of its own, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--words", type=int, default=WORDS, help="of a document")
    parser.add_argument("--one", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        with tempfile.TemporaryDirectory() as place:
            print(json.dumps(grow(given.one, place, given.rounds, given.words)))
        return
    for size in given.sizes.split(","):
        command = [sys.executable, __file__, "--one", size, "--rounds", str(given.rounds)]
        command += ["--words", str(given.words)]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(f"{int(size):>9,}  " + "  ".join(f"{name} {value:,.2f}" for name, value in told.items()), flush=True)


if __name__ == "__main__":
    main()
