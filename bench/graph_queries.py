"""How long questions to a large graph take, warm and cold.

    python bench/graph_queries.py [--entities 100000] [--questions 200] [--seed 1] [--folder FOLDER]

The graph is made: two relations for each entity between any two, and ten hubs, such as logging or a database, that a
tenth of all entities touch each. Warm is a question to an open graph, about entities chosen at random, and about the
hubs themselves; "as answered" is with names, places and evidence. Cold is a new process that opens the graph, asks one
question and ends, in CPU time, against one that imports sqlite3 and opens the same file. Both have their bytecode, as
what was installed has.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from deia.graph.graph_questions import path as path_between
from deia.graph.graph_questions import trace as trace_from
from deia.graph.graph_store import DATABASE, Graph
from deia.graph.traversal import DOWNSTREAM, UPSTREAM, dependents, neighbours, shortest_path, stats, trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HUBS = 10
TYPES = ("CALLS", "CONSUMES", "IMPORTS", "MENTIONS", "OWNS", "PRODUCES", "USES")
KINDS = ("CLASS", "FUNCTION", "MODULE", "SERVICE")
OF_DOCUMENT = 20  # entities in a document
COLD_RUNS = 9
BARE = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('select value from about').fetchone()"
COLD = (
    "import sys; from deia.graph.graph_store import Graph; from deia.graph.traversal import *\n"
    "graph = Graph(sys.argv[1]); one, other = 12_345 % {n} + 1, 6_789 % {n} + 1\n{question}"
)
QUESTIONS = {
    "path": "shortest_path(graph, one, other)",
    "trace": "trace(graph, [one], direction=DOWNSTREAM)",
    "stats": "stats(graph)",
}


def edges(entities: int, chosen: random.Random) -> Iterator[tuple[int, int]]:
    """Yield the two ends of each relation."""
    for number in range(1, entities + 1):
        yield from ((number, chosen.randint(1, entities)) for _ in range(2))
    for hub in range(1, HUBS + 1):
        yield from ((chosen.randint(1, entities), hub) for _ in range(entities // HUBS))


def make(folder: str, entities: int, seed: int) -> None:
    """Write a graph straight into its tables."""
    chosen = random.Random(seed)
    with Graph(folder) as graph:
        run, many = graph.database.execute, graph.database.executemany
        run("begin")
        documents = range(1, entities // OF_DOCUMENT + 1)
        many("insert into documents values (?, ?, '', ?)", ((n, f"d{n}.py", n * OF_DOCUMENT) for n in documents))
        named = range(1, entities + 1)
        many(
            "insert into entities (id, key, name, folded, last, type, description, shared, document)"
            " values (?, ?, ?, ?, ?, ?, '', 0, ?)",
            ((n, str(n), f"e{n}", f"e{n}", f"e{n}", KINDS[n % len(KINDS)], n // OF_DOCUMENT + 1) for n in named),
        )
        places = ((n, n // OF_DOCUMENT + 1) for n in named)
        many("insert into places (entity, document, first, last, fields) values (?, ?, 1, 2, '')", places)
        for ref, (source, target) in enumerate(edges(entities, chosen), 1):
            kind = chosen.choice(TYPES)
            document = source // OF_DOCUMENT + 1
            run(
                "insert into refs (id, document, source, type, target, last, target_type, line, certainty, description,"
                " otherwise, fields) values (?, ?, ?, ?, ?, ?, '', 1, 0, '', '', '')",
                (ref, document, source, kind, f"e{target}", f"e{target}"),
            )
            run("insert into relations values (?, ?, ?, ?, ?)", (source, target, kind, chosen.randrange(3), ref))
        graph.index()
        run("commit")


def timed(ask: Callable[[int, int], object], pairs: list[tuple[int, int]]) -> str:
    """Return how long a question takes about each pair."""
    times = []
    for pair in pairs:
        began = time.perf_counter()
        ask(*pair)
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return (
        f"median {statistics.median(times):7.3f} ms   95 % {times[len(times) * 95 // 100]:7.3f}   most {times[-1]:7.3f}"
    )


def cold(code: str, place: str) -> float:
    """Return the CPU time of a process that runs some code, the median of several, in ms."""
    times = []
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = bytecode
        for _ in range(1 + COLD_RUNS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code, place], check=True, env=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
    return statistics.median(times[1:])  # the first writes the bytecode


def main() -> None:
    """Make the graph, ask, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = str(options.folder or temporary)
        if not Path(folder, DATABASE).exists():
            make(folder, options.entities, options.seed)
        ask_all(folder, options.entities, options.questions, random.Random(options.seed))


def ask_all(folder: str, entities: int, questions: int, chosen: random.Random) -> None:
    """Ask every kind of question and print the times."""
    pairs = [(chosen.randint(1, entities), chosen.randint(1, entities)) for _ in range(questions)]
    hubs = [(1 + number % HUBS, pair[1]) for number, pair in enumerate(pairs)]
    with Graph(folder) as graph:
        counts = stats(graph)
        print(f"{counts.entities} entities, {counts.relations} relations, {HUBS} hubs")
        ways = [shortest_path(graph, *pair) for pair in pairs]
        lengths = [len(way.edges) for way in ways]
        spread = {length: lengths.count(length) for length in sorted(set(lengths))}
        print(f"paths by length (0: none within five): {spread}; {sum(way.is_cut for way in ways)} met a cut hub")
        asked: dict[str, Callable[[int, int], object]] = {
            "path": lambda one, other: shortest_path(graph, one, other),
            "trace downstream": lambda one, _: trace(graph, [one], direction=DOWNSTREAM),
            "trace upstream": lambda one, _: trace(graph, [one], direction=UPSTREAM),
            "path, as answered": lambda one, other: path_between(graph, f"e{one}", f"e{other}"),
            "trace, as answered": lambda one, _: trace_from(graph, f"e{one}"),
            "neighbours": lambda one, _: neighbours(graph, one),
            "dependents, 1 step": lambda one, _: dependents(graph, [one], depth=1),
            "dependents, 5 steps": lambda one, _: dependents(graph, [one]),
            "stats": lambda _one, _other: stats(graph),
        }
        for name, ask in asked.items():
            print(f"warm  {name:20} {timed(ask, pairs)}")
            print(f"      {'… of hubs':20} {timed(ask, hubs)}")
    bare = cold(BARE, f"{folder}/{DATABASE}")
    print(f"cold  bare {bare:.1f} ms of CPU")
    for name, question in QUESTIONS.items():
        took = cold(COLD.format(n=entities, question=question), folder)
        print(f"cold  {name:6} {took:6.1f} ms, {took / bare:.2f} × bare")


if __name__ == "__main__":
    main()
