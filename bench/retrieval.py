"""How well questions find documents: nDCG@10, recall@5 and MRR on labelled sets, with clean and misspelt questions.

    python bench/retrieval.py [--tiers keyword,static,compact] [--kept FILE] [--write PAGE] FOLDER…

A FOLDER has `corpus.jsonl`, `queries.jsonl`, `queries.typo.jsonl` (optional) and `qrels.tsv`. `--kept` keeps the
sentence model's vectors from one run to the next. Each tier is measured separately. The last lines of each ask every
set the questions of the other sets and print how many are answered although they should not be. SQLite's FTS5 is asked
the same questions. `--write` makes a page from the results, with what tools/train_confidence.py measured out of sample.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from deia.audit import golden_run
from deia.compile.catalog.build_catalog import build_catalog
from deia.compile.catalog.effort import Effort
from deia.knowledge import Document, Entry, Query
from deia.match.minilm import unit
from deia.match.numerics import np
from deia.match.passage_vectors import decoded
from deia.match.tiers import open_tier
from deia.match.tokeniser import question_words, words
from deia.search.catalog import Catalog, open_catalog
from deia.search.pipeline import ranking, search
from deia.search.ranking.weights import OF_CODE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

DEPTH = golden_run.DEPTH
SAMPLE = 100  # questions whose verdicts are counted
LITE = "SQLite FTS5"
PLAIN = "FTS5 + MiniLM"  # at equal weights, with names split: what anybody can put together
PLAIN_DEPTH = 100
MEASURED = Path(__file__).parent.parent / "deia" / "models" / "search.measured.json"
CONFIDENCES = ("high", "medium", "low")
FINDING = """
## Finding

nDCG@10, clean / misspelt. Of everything shipped, only the weights of fusion and verdict were chosen on these sets.
"""
NOTHING = """## When nothing fits

The shares of a set's own questions, clean and misspelt, that are refused, and of foreign questions that are answered.
The verdict was trained without the set and its questions, and its threshold was chosen by the tests of the other sets
(`tools/train_confidence.py`). In brackets: 95 % intervals over draws of the questions. `small` is the same set with
only the documents of 30 questions. Foreign questions are those of all sets that share no subject with it, and everyday
ones. The first four sets hold questions that people ask (`starter`: the starter commons' golden questions, with its
documents but without what its index says about them). The others, made by `tools/installed_sets.py`, hold one-line
descriptions from manuals and docstrings. Lists of frequently asked questions (`tools/faq_sets.py`) and headings of
manuals (`tools/section_sets.py`) were only trained with. In `keyword`, words alone rank, and what word vectors find
tells whether the question belongs.
"""
WORTH = """## What a confidence is worth

For the sets' own questions that were answered, out of sample: the probability that the verdict stated, and how often
the best document was a right one.
"""
TRIED = Path(__file__).with_name("retrieval_tried.md")
QUESTIONS = ("queries.jsonl", "queries.typo.jsonl")


class Scores(NamedTuple):
    """One set's figures: the one that is averaged, and all of them in a line."""

    ndcg: float
    line: str


def rows(folder: str, name: str) -> list[dict[str, Any]]:
    """Read a file of JSON lines; a missing file has none."""
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
    built = build_catalog(entries, documents, [], [], target, tiers=tiers, effort=Effort(cache=kept))
    speed = built.chunks / (time.perf_counter() - start)
    print(f"{os.path.basename(folder)}: {built.documents} documents, {built.chunks} chunks, {speed:,.0f} chunks/s")
    return open_catalog(target)


def scores(found: Sequence[str], relevant: Mapping[str, int]) -> tuple[float, float, float]:
    """Return nDCG@10, recall@5 and the reciprocal rank of one question."""
    told = golden_run.scores(found, relevant)
    return told.ndcg, told.recall, told.mrr


def measure(
    catalog: Catalog, queries: Sequence[Mapping[str, Any]], relevant: Mapping[str, Mapping[str, int]], tier: str
) -> Scores:
    """Ask every question, and return the means."""
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


def mean_of(folder: str, name: str, order: Callable[[str], Sequence[str]]) -> Scores:
    """Return how well a function orders the documents for each question."""
    relevant = judgements(folder)
    asked = [query for query in rows(folder, name) if query["_id"] in relevant]
    every = [scores(order(query["text"]), relevant[query["_id"]])[0] for query in asked]
    ndcg = sum(every) / len(every)
    return Scores(ndcg, f"nDCG@10 {ndcg:.3f}")


def lite_scores(folder: str, name: str) -> Scores:
    """Search SQLite's FTS5, with its stemmer, for the words of every question, joined by OR."""
    found = bm25(folder, lambda text: text)

    def order(text: str) -> list[str]:
        return [*found([word[0] for word in question_words(text)], DEPTH)]

    return mean_of(folder, name, order)


def plain_scores(folder: str, name: str, catalog: Catalog) -> Scores:
    """Add what FTS5 finds, with names split, to the likeness of the best passage, both from 0 to 1 over a hundred."""
    found = bm25(folder, split)
    tier = open_tier("compact")
    vectors = catalog.vectors("compact")
    stored = np.frombuffer(vectors.passages(range(len(vectors))), np.uint8).reshape(len(vectors), -1)
    passages = unit(decoded(tier.model, stored))
    starts = np.cumsum([0, *(vectors.count(number) for number in range(len(catalog) - 1))])

    def order(text: str) -> list[str]:
        likeness = np.maximum.reduceat(passages @ unit(np.array([tier.encode(text)], np.float32))[0], starts)
        near = {catalog.id(number): float(likeness[number]) for number in np.argsort(-likeness)[:PLAIN_DEPTH].tolist()}
        words_in = [part for word in question_words(text) for part in split(word[0]).split()]
        both = [scaled(near), scaled(found(words_in, PLAIN_DEPTH))]
        total = {ident: sum(each.get(ident, 0.0) for each in both) for each in both for ident in each}
        return sorted(total, key=lambda ident: (-total[ident], ident))[:DEPTH]

    return mean_of(folder, name, order)


def bm25(folder: str, prepared: Callable[[str], str]) -> Callable[[Sequence[str], int], dict[str, float]]:
    """Return what finds the best so many documents for any of some words, each with its score."""
    base = sqlite3.connect(":memory:")
    base.execute("create virtual table docs using fts5(id unindexed, title, body, tokenize='porter unicode61')")
    texts = ((row["_id"], prepared(row["title"]), prepared(row["text"])) for row in rows(folder, "corpus.jsonl"))
    base.executemany("insert into docs values (?, ?, ?)", texts)

    def found(asked: Sequence[str], most: int) -> dict[str, float]:
        sql = "select id, -rank from docs where docs match ? order by rank limit ?"
        return dict(base.execute(sql, (" OR ".join(f'"{word}"' for word in asked), most))) if asked else {}

    return found


def split(text: str) -> str:
    """Return a text with its names taken apart."""
    return " ".join(part for parts in words(text) for part in parts)


def scaled(values: Mapping[str, float]) -> dict[str, float]:
    """Return values from 0 for the least to 1 for the greatest."""
    least, most = min(values.values(), default=0.0), max(values.values(), default=0.0)
    return {ident: (value - least) / (most - least) if most > least else 1.0 for ident, value in values.items()}


def report(name: str, folder: str, catalogs: Mapping[str, Catalog], tier: str) -> float:
    """Print one set's line for one way of asking, and return its nDCG@10."""
    if tier == LITE:
        found = lite_scores(folder, name)
    elif tier == PLAIN:
        found = plain_scores(folder, name, catalogs[folder])
    else:
        found = measure(catalogs[folder], rows(folder, name), judgements(folder), tier)
    print(f"{tier:11} {os.path.basename(folder):20} {name:20} {found.line}", flush=True)
    return found.ndcg


def report_tier(tier: str, catalogs: Mapping[str, Catalog]) -> dict[str, list[float]]:
    """Print all that is measured of a tier; return nDCG@10 by the way of asking, set by set."""
    every = {}
    for name in QUESTIONS:
        every[name] = [report(name, folder, catalogs, tier) for folder in catalogs if rows(folder, name)]
        if every[name]:
            mean = sum(every[name]) / len(every[name])
            print(f"{tier:11} {'mean':20} {name:20} nDCG@10 {mean:.3f}", flush=True)
    for folder, catalog in catalogs.items() if tier not in {LITE, PLAIN} else ():
        foreign = [query for other in catalogs if other != folder for query in rows(other, QUESTIONS[0])]
        if foreign:
            told = verdicts(catalog, foreign, tier)
            print(f"{tier:11} {os.path.basename(folder):20} {'foreign questions':20} {told}", flush=True)
    return every


# --- the page --------------------------------------------------------------------------------------------------------


def page(names: Sequence[str], figures: Mapping[str, Mapping[str, Sequence[float]]]) -> Iterator[str]:
    """Yield the page line by line."""
    yield "# How well searches find, and when they say that nothing fits"
    yield ""
    tiers = ",".join(tier for tier in figures if tier not in {LITE, PLAIN})
    yield f"Made by `python bench/retrieval.py --tiers {tiers} --write docs/RETRIEVAL.md FOLDER…` with Python"
    yield f"{platform.python_version()}; the sets are not part of the project. `docs/SEARCH.md` says how searches work."
    yield FINDING
    yield from _row("", *names, "mean")
    yield from _row(*("---" for _ in range(len(names) + 2)))
    for tier, by_name in figures.items():
        pairs = [_pair(by_name, at) for at in range(len(names))]
        means = " / ".join(f"{sum(found) / len(found):.3f}" for found in by_name.values() if found)
        yield from _row(tier, *pairs, f"**{means}**")
    yield ""
    yield from _abstaining(json.loads(MEASURED.read_text("ascii")))
    yield TRIED.read_text("utf-8").rstrip()


def _row(*cells: str) -> Iterator[str]:
    yield f"| {' | '.join(cells)} |"


def _pair(by_name: Mapping[str, Sequence[float]], at: int) -> str:
    return " / ".join(f"{found[at]:.3f}" for found in by_name.values() if at < len(found))


def _abstaining(measured: Mapping[str, Any]) -> Iterator[str]:
    """Describe what `tools/train_confidence.py` measured."""
    yield NOTHING
    sets = [each["set"] for each in next(iter(measured.values()))["sets"] if not each["set"].endswith("short")]
    asked = ("k8s", "owasp", "tldr", "starter")
    for_tiers = [tier for tier in measured if not tier.endswith(OF_CODE)]
    yield from _row("set", *(f"{tier}: refused | {tier}: answered" for tier in for_tiers))
    yield from _row(*("---" for _ in range(1 + 2 * len(for_tiers))))
    for name in sorted(sets, key=lambda each: (not each.startswith(asked), each)):
        held = [next(each for each in measured[tier]["sets"] if each["set"] == name) for tier in for_tiers]
        yield from _row(name, *(f"{_bounds(each['lost'])} | {_bounds(each['answered'])}" for each in held))
    means = [measured[tier]["mean"] for tier in for_tiers]
    yield from _row("**mean**", *(f"**{each['lost']:.3f}** | **{each['answered']:.3f}**" for each in means))
    yield ""
    yield WORTH
    yield from _row("tier", *(f"{name}: named | {name}: was right" for name in CONFIDENCES), "calibration error")
    yield from _row(*("---" for _ in range(2 + 2 * len(CONFIDENCES))))
    for tier in for_tiers:
        by_name = {each["confidence"]: each for each in measured[tier]["reliability"]}
        told = [by_name.get(name) for name in CONFIDENCES]
        cells = [f"{each['said']:.2f} | {_bounds(each['was'])}" if each else "- | -" for each in told]
        yield from _row(tier, *cells, f"{measured[tier]['error']:.3f}")
    yield ""


def _bounds(given: Sequence[float]) -> str:
    return f"{given[0]:.3f} ({given[1]:.2f}-{given[2]:.2f})"


def main() -> None:
    """Measure every folder in every tier."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiers", default="keyword,static")
    parser.add_argument("--kept", default="")
    parser.add_argument("--write", type=Path, help="make a page of it")
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    tiers = given.tiers.split(",")
    made = [tier for tier in tiers if tier != "keyword"]
    with tempfile.TemporaryDirectory() as place:
        catalogs = {
            folder: compiled(folder, os.path.join(place, str(at)), tiers=made, kept=given.kept)
            for at, folder in enumerate(given.folders)
        }
        figures = {
            tier: report_tier(tier, catalogs) for tier in (LITE, *([PLAIN] if "compact" in made else []), *tiers)
        }
    if given.write:
        names = [os.path.basename(folder.rstrip("/")) for folder in given.folders]
        given.write.write_text("\n".join(page(names, figures)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
