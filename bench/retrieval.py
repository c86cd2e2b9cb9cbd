"""How well questions find documents: nDCG@10, recall@5 and MRR on labelled sets, asked clean and misspelt.

    python bench/retrieval.py [--tiers keyword,static,compact] [--kept FILE] FOLDER…

A FOLDER has `corpus.jsonl`, `queries.jsonl`, `queries.typo.jsonl` (optional) and `qrels.tsv`.
`--kept` keeps the sentence model's vectors from one run to the next. Every
tier is measured by itself. The last lines of each ask every set the questions of the others and print how many are
answered all the same, which they should not be.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from deia.compile.catalog import build_catalog
from deia.compile.encoding import Effort
from deia.knowledge import Document, Entry, Query
from deia.search import measures
from deia.search.ask import ranking, search
from deia.search.catalog import Catalog, open_catalog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEPTH = measures.DEPTH
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


def compiled(folder: str, target: str, *, tiers: Sequence[str] = ("static",), kept: str = "") -> Catalog:
    """Compile a corpus as a commons would be."""
    corpus = rows(folder, "corpus.jsonl")
    entries = [Entry(id=row["_id"], path=f"bok/{row['_id']}.md", title=row["title"]) for row in corpus]
    documents = [Document(path=f"bok/{row['_id']}.md", title=row["title"], text=row["text"]) for row in corpus]
    os.mkdir(target)
    start = time.perf_counter()
    built = build_catalog(entries, documents, [], [], target, tiers=tiers, effort=Effort(kept=kept))
    speed = built.chunks / (time.perf_counter() - start)
    print(f"{os.path.basename(folder)}: {built.documents} documents, {built.chunks} chunks, {speed:,.0f} chunks/s")
    return open_catalog(target)


def scores(found: Sequence[str], relevant: Mapping[str, int]) -> tuple[float, float, float]:
    """Give nDCG@10, recall@5 and the reciprocal rank of one question."""
    told = measures.scores(found, relevant)
    return told.ndcg, told.recall, told.mrr


def measure(
    catalog: Catalog, queries: Sequence[Mapping[str, Any]], relevant: Mapping[str, Mapping[str, int]], tier: str
) -> Scores:
    """Ask every question, and give the means."""
    judged = [query for query in queries if query["_id"] in relevant]
    start = time.perf_counter()
    orders = [ranking(catalog, query["text"], limit=DEPTH, tiers=(tier,)) for query in judged]
    each_ms = (time.perf_counter() - start) / max(1, len(judged)) * 1e3
    every = [scores(order, relevant[query["_id"]]) for order, query in zip(orders, judged, strict=True)]
    ndcg, recall, mrr = (sum(column) / len(every) for column in zip(*every, strict=True))
    sure = verdicts(catalog, judged, tier)
    return Scores(ndcg, f"nDCG@10 {ndcg:.3f}  recall@5 {recall:.3f}  MRR {mrr:.3f}  {each_ms:.2f} ms  {sure}")


def verdicts(catalog: Catalog, queries: Sequence[Mapping[str, Any]], tier: str) -> str:
    """Count how sure the answers are."""
    asked = queries[:: max(1, len(queries) // SAMPLE)]
    answers = [search(catalog, Query(text=query["text"]), tiers=(tier,)) for query in asked]
    levels = [answer.confidence if answer.matched else "none" for answer in answers]
    return " ".join(f"{level} {levels.count(level) / len(levels):.2f}" for level in ("high", "medium", "low", "none"))


def report(name: str, folder: str, catalogs: Mapping[str, Catalog], tier: str) -> float:
    """Print one set's line for one way of asking, and give its nDCG@10."""
    found = measure(catalogs[folder], rows(folder, name), judgements(folder), tier)
    print(f"{tier:8} {os.path.basename(folder):20} {name:20} {found.line}", flush=True)
    return found.ndcg


def report_tier(tier: str, catalogs: Mapping[str, Catalog]) -> None:
    """Print all that is measured of a tier."""
    for name in QUESTIONS:
        means = [report(name, folder, catalogs, tier) for folder in catalogs if rows(folder, name)]
        if means:
            print(f"{tier:8} {'mean':20} {name:20} nDCG@10 {sum(means) / len(means):.3f}", flush=True)
    for folder, catalog in catalogs.items():
        foreign = [query for other in catalogs if other != folder for query in rows(other, QUESTIONS[0])]
        if foreign:
            told = verdicts(catalog, foreign, tier)
            print(f"{tier:8} {os.path.basename(folder):20} {'foreign questions':20} {told}", flush=True)


def main() -> None:
    """Measure every folder in every tier."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiers", default="keyword,static")
    parser.add_argument("--kept", default="")
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    tiers = given.tiers.split(",")
    made = [tier for tier in tiers if tier != "keyword"]
    with tempfile.TemporaryDirectory() as place:
        catalogs = {
            folder: compiled(folder, os.path.join(place, str(at)), tiers=made, kept=given.kept)
            for at, folder in enumerate(given.folders)
        }
        for tier in tiers:
            report_tier(tier, catalogs)


if __name__ == "__main__":
    main()
