"""What a cold question costs as a whole process, beside SQLite FTS5 and an empty interpreter.

    python bench/search.py [--rounds N] [--sizes 100,1000,10000] [--command 'deia search --root {root} {query}']

Every program is started in turn, round after round, so that a busy machine is unfair to none. `bare` is `python -c
pass`, `floor` is `python -I -S -c pass`. Without --command a few lines stand in for the command: they open the
catalog, answer and print. `{folder}`, `{root}` and `{query}` are filled in; `{root}` is the folder above the
catalog.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from deia.compile.catalog import build_catalog
from deia.knowledge import Document, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SYLLABLES = "ka lo mi ter ra no ve si du pan gor el ist um ar con de pro ser ver cal tin mo ru".split()
VOCABULARY = 20_000
SHORT_WORDS = 300
WORDS = 170  # of a document: one passage
SEED = 20
OURS = """\
import os, sys
from deia.knowledge import Query
from deia.search.ask import search
from deia.search.catalog import open_catalog
from deia.search.render import table
print(table(search(open_catalog(sys.argv[1]), Query(text=sys.argv[2]))), flush=True)
os._exit(0)
"""
FTS5 = """\
import os, sqlite3, sys
asked = " OR ".join('"' + word + '"' for word in sys.argv[2].split())
found = sqlite3.connect(sys.argv[1]).execute("select id from d where d match ? order by bm25(d) limit 5", (asked,))
print("\\n".join(row[0] for row in found), flush=True)
os._exit(0)
"""


def vocabulary(chance: random.Random) -> list[str]:
    """Make distinct words, the most frequent first, which are the shortest as in any language."""
    made: dict[str, None] = {}
    while len(made) < VOCABULARY:
        length = 2 if len(made) < SHORT_WORDS else 3 if len(made) < 10 * SHORT_WORDS else 4
        made["".join(chance.choices(SYLLABLES, k=length))] = None
    return list(made)


def corpus(size: int) -> Iterator[Document]:
    """Make documents whose words are as frequent as Zipf's law has it."""
    chance = random.Random(SEED)
    known = vocabulary(chance)
    weights = [1 / (rank + 2.7) for rank in range(len(known))]
    for number in range(size):
        found = chance.choices(known, weights, k=WORDS)
        paragraphs = [" ".join(found[start : start + 40]) for start in range(0, WORDS, 40)]
        yield Document(path=f"bok/d{number}.md", title=" ".join(found[:4]), text="\n\n".join(paragraphs))


def questions() -> list[str]:
    """Make questions of common, middling and rare words, and some with a misspelt one."""
    chance = random.Random(SEED)
    known = vocabulary(chance)
    made = [" ".join([*chance.sample(known[:300], 2), *chance.sample(known[300:3000], 3)]) for _ in range(15)]
    return [*made, *(f"{question} {misspelt(chance.choice(known[100:2000]))}" for question in made[:5])]


def misspelt(word: str) -> str:
    """Swap two letters."""
    return word[:1] + word[2:3] + word[1:2] + word[3:]


def build(place: str, size: int) -> Mapping[str, str]:
    """Compile a commons of this size, and the same documents for SQLite."""
    root = os.path.join(place, str(size))
    folder, database = os.path.join(root, "catalog"), os.path.join(root, "fts.db")
    os.makedirs(folder)
    documents = list(corpus(size))
    entries = [Entry(id=document.path, path=document.path, title=document.title) for document in documents]
    start = time.perf_counter()
    built = build_catalog(entries, documents, [], [], folder)
    print(f"{size:>7} documents: {built.chunks / (time.perf_counter() - start):,.0f} chunks/s compiled", flush=True)
    with sqlite3.connect(database) as connection:
        connection.execute("create virtual table d using fts5(id unindexed, title, body, tokenize='porter')")
        connection.executemany(
            "insert into d values (?,?,?)", [(each.path, each.title, each.text) for each in documents]
        )
    connection.close()
    return {"folder": folder, "root": root, "database": database}


def programs(places: Mapping[int, Mapping[str, str]], command: str, query: str) -> dict[str, list[str]]:
    """Give everything that is started in one round."""
    started = {"bare": [sys.executable, "-c", "pass"], "floor": [sys.executable, "-I", "-S", "-c", "pass"]}
    for size, place in places.items():
        ours = [sys.executable, "-c", OURS, place["folder"], query]
        if command:
            ours = [part.format(query=query, **place) for part in shlex.split(command)]
        started[f"deia {size}"] = ours
        started[f"fts5 {size}"] = [sys.executable, "-c", FTS5, place["database"], query]
    return started


def environment(place: str) -> dict[str, str]:
    """Give an environment in which modules are compiled once, as those of an installed package are."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": os.path.join(place, "compiled")}


def seconds(command: Sequence[str], environ: Mapping[str, str]) -> float:
    """Run one program to its end."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environ)
    return time.perf_counter() - start


def main() -> None:
    """Measure, and print a line for every program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--sizes", default="100,1000,10000")
    parser.add_argument("--command", default="")
    given = parser.parse_args()
    asked = questions()
    with tempfile.TemporaryDirectory() as place:
        places = {int(size): build(place, int(size)) for size in given.sizes.split(",")}
        environ = environment(place)
        taken: dict[str, list[float]] = {}
        for number in range(given.rounds + 2):
            for name, command in programs(places, given.command, asked[number % len(asked)]).items():
                taken.setdefault(name, []).append(seconds(command, environ))
    table({name: every[2:] for name, every in taken.items()})  # the first two rounds fill the caches


def table(taken: Mapping[str, Sequence[float]]) -> None:
    """Print medians, 95th percentiles and ratios."""
    middle = {name: statistics.median(every) for name, every in taken.items()}
    print(f"{'':14} {'median ms':>9} {'p95 ms':>8} {'x bare':>7} {'x floor':>7}")
    for name, every in taken.items():
        late = sorted(every)[int(len(every) * 0.95)]
        ratios = (middle[name] / middle["bare"], middle[name] / middle["floor"])
        print(f"{name:14} {middle[name] * 1e3:9.1f} {late * 1e3:8.1f} {ratios[0]:7.2f} {ratios[1]:7.2f}")


if __name__ == "__main__":
    main()
