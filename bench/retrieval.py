"""How well questions find documents: nDCG@10, recall@5 and MRR on labelled sets, asked clean and misspelt.

    python bench/retrieval.py FOLDER…

A FOLDER has `corpus.jsonl`, `queries.jsonl`, `queries.typo.jsonl` (optional) and `qrels.tsv`. The last column asks
each set the questions of the others and prints how many are answered all the same, which they should not be.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from deia.compile.catalog import build_catalog
from deia.knowledge import Document, Entry, Query
from deia.search.ask import ranking, search
from deia.search.catalog import Catalog, open_catalog

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DEPTH = 10
SAMPLE = 100  # questions whose verdicts are counted
QUESTIONS = ("queries.jsonl", "queries.typo.jsonl")


class Scores(NamedTuple):
    """One set's figures: the one that is averaged, and all of them in a line."""

    ndcg: float
    line: str


def rows(folder: str, name: str) -> list[dict[str, Any]]:
    """Read a file of JSON lines; one that is not there has none."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def judgements(folder: str) -> dict[str, dict[str, int]]:
    """Read which documents answer which question, and how well."""
    found: dict[str, dict[str, int]] = {}
    with open(os.path.join(folder, "qrels.tsv"), encoding="utf-8") as file:
        for line in list(file)[1:]:
            query, document, grade = line.rstrip("\n").split("\t")
            found.setdefault(query, {})[document] = int(grade)
    return found


def compiled(folder: str, target: str) -> Catalog:
    """Compile a corpus as a commons would be."""
    corpus = rows(folder, "corpus.jsonl")
    entries = [Entry(id=row["_id"], path=f"bok/{row['_id']}.md", title=row["title"]) for row in corpus]
    documents = [Document(path=f"bok/{row['_id']}.md", title=row["title"], text=row["text"]) for row in corpus]
    os.mkdir(target)
    start = time.perf_counter()
    built = build_catalog(entries, documents, [], [], target)
    speed = built.chunks / (time.perf_counter() - start)
    print(f"{os.path.basename(folder)}: {built.documents} documents, {built.chunks} chunks, {speed:,.0f} chunks/s")
    return open_catalog(target)


def gain(grades: Iterable[int]) -> float:
    """Sum discounted gains (Järvelin and Kekäläinen, 2002, with exponential gain)."""
    return sum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))


def scores(found: Sequence[str], relevant: Mapping[str, int]) -> tuple[float, float, float]:
    """Give nDCG@10, recall@5 and the reciprocal rank of one question."""
    ideal = gain(sorted(relevant.values(), reverse=True)[:DEPTH])
    places = [place for place, document in enumerate(found, 1) if document in relevant]
    recall = sum(place <= 5 for place in places) / min(5, len(relevant))
    return gain(relevant.get(document, 0) for document in found) / ideal, recall, 1 / places[0] if places else 0.0


def measure(
    catalog: Catalog, queries: Sequence[Mapping[str, Any]], relevant: Mapping[str, Mapping[str, int]]
) -> Scores:
    """Ask every question, and give the means."""
    judged = [query for query in queries if query["_id"] in relevant]
    start = time.perf_counter()
    orders = [[each.document for each in ranking(catalog, query["text"], limit=DEPTH)] for query in judged]
    each_ms = (time.perf_counter() - start) / max(1, len(judged)) * 1e3
    every = [scores(order, relevant[query["_id"]]) for order, query in zip(orders, judged, strict=True)]
    ndcg, recall, mrr = (sum(column) / len(every) for column in zip(*every, strict=True))
    sure = verdicts(catalog, judged)
    return Scores(ndcg, f"nDCG@10 {ndcg:.3f}  recall@5 {recall:.3f}  MRR {mrr:.3f}  {each_ms:.2f} ms  {sure}")


def verdicts(catalog: Catalog, queries: Sequence[Mapping[str, Any]]) -> str:
    """Count how sure the answers are."""
    answers = [search(catalog, Query(text=query["text"])) for query in queries[:: max(1, len(queries) // SAMPLE)]]
    levels = [answer.confidence if answer.matched else "none" for answer in answers]
    return " ".join(f"{level} {levels.count(level) / len(levels):.2f}" for level in ("high", "medium", "low", "none"))


def report(name: str, folder: str, catalogs: Mapping[str, Catalog]) -> float:
    """Print one set's line for one way of asking, and give its nDCG@10."""
    found = measure(catalogs[folder], rows(folder, name), judgements(folder))
    print(f"{os.path.basename(folder):20} {name:20} {found.line}", flush=True)
    return found.ndcg


def main(folders: Sequence[str]) -> None:
    """Measure every folder."""
    with tempfile.TemporaryDirectory() as place:
        catalogs = {folder: compiled(folder, os.path.join(place, str(at))) for at, folder in enumerate(folders)}
        for name in QUESTIONS:
            asked = [folder for folder in folders if rows(folder, name)]
            means = [report(name, folder, catalogs) for folder in asked]
            if means:
                print(f"{'mean':20} {name:20} nDCG@10 {sum(means) / len(means):.3f}", flush=True)
        for folder, catalog in catalogs.items():
            foreign = [query for other in folders if other != folder for query in rows(other, QUESTIONS[0])]
            if foreign:
                print(
                    f"{os.path.basename(folder):20} {'foreign questions':20} {verdicts(catalog, foreign)}", flush=True
                )


if __name__ == "__main__":
    main(sys.argv[1:])
