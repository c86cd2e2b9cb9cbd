"""Measure what a cold question costs as a whole process, compared with SQLite FTS5 and an empty interpreter.

    python bench/search.py [--rounds N] [--sizes 100,1000,10000]

All programs are started in turn, round after round, so that a busy machine affects all alike: the installed `deia
search` on a commons of each size, `bare` (`python -c pass`), `floor` (`python -I -S -c pass`), and the same documents
in SQLite. The budget of a cold search is 4 times `bare`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import accumulate
from typing import TYPE_CHECKING

from deia.compile.compiler import compile_commons
from deia.knowledge import Document
from deia.serve.startup.bytecode import keep_bytecode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SYLLABLES = "ka lo mi ter ra no ve si du pan gor el ist um ar con de pro ser ver cal tin mo ru".split()
VOCABULARY = 20_000
SHORT_WORDS = 300
WORDS = 170  # of a document: one passage
SEED = 20
COMMAND = os.path.join(os.path.dirname(sys.executable), "deia")
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


def corpus(size: int, length: int = WORDS) -> Iterator[Document]:
    """Make documents whose words follow Zipf's law."""
    chance = random.Random(SEED)
    known = vocabulary(chance)
    weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(known))))
    for number in range(size):
        found = chance.choices(known, cum_weights=weights, k=length)
        paragraphs = [" ".join(found[start : start + 40]) for start in range(0, length, 40)]
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
    """Write and compile a commons of this size, and put the same documents into SQLite."""
    root = os.path.join(place, str(size))
    os.makedirs(os.path.join(root, "bok"))
    documents = list(corpus(size))
    listed = [{"id": each.path, "path": each.path, "title": each.title, "summary": each.title} for each in documents]
    index = {"version": "1.0", "clusters": {"all": {"description": "Everything", "documents": listed}}}
    with open(os.path.join(root, "commons_index.yaml"), "w", encoding="utf-8") as file:
        json.dump(index, file)
    for each in documents:
        with open(os.path.join(root, each.path), "w", encoding="utf-8") as file:
            file.write(f"# {each.title}\n\n{each.text}\n")
    done = compile_commons(root, environ=environment(place))
    print(f"{size:>7} documents: compiled in {done.seconds:.2f} s", flush=True)
    database = os.path.join(root, "fts.db")
    with sqlite3.connect(database) as connection:
        connection.execute("create virtual table d using fts5(id unindexed, title, body, tokenize='porter')")
        connection.executemany(
            "insert into d values (?,?,?)", [(each.path, each.title, each.text) for each in documents]
        )
    connection.close()
    return {"root": root, "database": database}


def programs(places: Mapping[int, Mapping[str, str]], query: str) -> dict[str, list[str]]:
    """Return everything that is started in one round."""
    started = {"bare": [sys.executable, "-c", "pass"], "floor": [sys.executable, "-I", "-S", "-c", "pass"]}
    for size, place in places.items():
        started[f"deia {size}"] = [COMMAND, "--commons", place["root"], "search", query]
        started[f"fts5 {size}"] = [sys.executable, "-c", FTS5, place["database"], query]
    return started


def environment(place: str) -> dict[str, str]:
    """Return an environment in which modules are compiled once, as those of an installed package are."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    own = {"PYTHONPYCACHEPREFIX": os.path.join(place, "compiled"), "DEIA_STATE": os.path.join(place, "state")}
    return {**kept, **own, "DEIA_TRUST": "*", "DEIA_CACHE": os.path.join(place, "cache")}


def seconds(command: Sequence[str], environ: Mapping[str, str]) -> float:
    """Run one program to its end."""
    start = time.perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env=environ)
    return time.perf_counter() - start


def main() -> None:
    """Measure, and print a line for every program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--sizes", default="100,1000,10000")
    given = parser.parse_args()
    keep_bytecode()  # as `deia compile` does
    asked = questions()
    with tempfile.TemporaryDirectory() as place:
        places = {int(size): build(place, int(size)) for size in given.sizes.split(",")}
        environ = environment(place)
        taken: dict[str, list[float]] = {}
        for number in range(given.rounds + 2):
            for name, command in programs(places, asked[number % len(asked)]).items():
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
