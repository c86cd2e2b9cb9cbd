"""Measure how good and how fast the compact sentence model is.

    python bench/compact.py [--threads N] [--cache PLACE] [FOLDER…]

Prints what loading and one query cost a fresh interpreter compared with a bare one, what a query costs warm, and how
many passages per second are encoded. A FOLDER (`corpus.jsonl`, `queries.jsonl`, `qrels.tsv`) adds nDCG@10 of the model
alone, by the best chunk of 180 words of a document, and of the equally weighted sum with BM25 over its words, names
split. `tools/quantise_compact.py --check` shows how well the model agrees with the original.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from retrieval import judgements, rows, scores
from timing import BARE, report, time_calls, time_commands

from deia.match.minilm import Compact, open_compact
from deia.match.numerics import np
from deia.match.quantised import quantised, similarities
from deia.match.tokeniser import terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).parent
STARTER = HERE.parent / "bok"
CHUNK_WORDS = 180
DEPTH = 100  # of each side, before both are put on one scale
ROUNDS = 11
QUERY = "the deploy fails on Netlify, should I delete the site and make it again?"
COLD = {
    "numpy": "from deia.match.numerics import np",
    "numpy, both cores": "import numpy as np; np.ones((400, 400), 'f4') @ np.ones((400, 400), 'f4')",
    "compact, opened": "from deia.match.minilm import open_compact; open_compact()",
    "compact, one query": f"from deia.match.minilm import open_compact; open_compact().encode_query({QUERY!r})",
}
K1, B = 1.5, 0.75  # Robertson and Zaragoza, 2009


def cold() -> None:
    """Print the cost of a whole process that only computes one query's vector."""
    begin = f"import sys; sys.path.insert(0, {str(HERE.parent)!r}); "
    commands = {name: (BARE[0], "-c", begin + code) for name, code in COLD.items()}
    report(time_commands({"bare": BARE, **commands}, rounds=ROUNDS), against="bare", budgets={})


def warm(model: Compact, threads: int) -> None:
    """Print what a query costs once the model is open, and how many passages per second are encoded."""
    for text in ("rotate api keys", QUERY):
        taken = time_calls(lambda _, text=text: model.encode_query(text), rounds=60)  # type: ignore[misc]
        middle, least = median(taken) / 1e3, min(taken) / 1e3
        print(f"warm: a query of {len(text.split()):2} words    p50 {middle:.1f} ms, least {least:.1f}")
    texts = [path.read_text("utf-8") for path in sorted(STARTER.rglob("*.md"))]
    passages = [part for text in texts for part in chunks(text)][:64]
    for count in sorted({1, threads}):
        begun = time.perf_counter()
        model.encode(passages, threads=count)
        speed = len(passages) / (time.perf_counter() - begun)
        print(f"warm: {len(passages)} passages, threads {count}    {speed:.1f} a second")


def chunks(text: str) -> list[str]:
    """Cut a text into pieces of so many words."""
    words = text.split()
    return [" ".join(words[start : start + CHUNK_WORDS]) for start in range(0, max(1, len(words)), CHUNK_WORDS)]


class Keywords:
    """BM25 over whole documents, the plain baseline that the model's scores are added to."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [Counter(terms(text)) for text in texts]
        lengths = [sum(each.values()) for each in counted]
        mean = sum(lengths) / len(lengths)
        self.lists: dict[str, list[tuple[int, float]]] = {}
        for number, (each, length) in enumerate(zip(counted, lengths, strict=True)):
            for term, times in each.items():
                weight = times / (times + K1 * (1 - B + B * length / mean))
                self.lists.setdefault(term, []).append((number, weight))
        self.count = len(texts)

    def scores(self, query: str) -> Any:
        """Return every document's score."""
        found = np.zeros(self.count, "f4")
        for term in set(terms(query)):
            held = self.lists.get(term, ())
            rarity = math.log(1 + (self.count - len(held) + 0.5) / (len(held) + 0.5))
            for number, weight in held:
                found[number] += rarity * weight
        return found


def scaled(values: Any) -> Any:
    """Put the best hundred between 0 and 1, all others at 0."""
    floor, top = np.sort(values)[-min(DEPTH, len(values))], values.max()
    return np.clip((values - floor) / ((top - floor) or 1), 0, 1)


def encoded(model: Compact, folder: str, texts: Sequence[str], options: argparse.Namespace) -> bytes:
    """Return the codes of texts, from the cache if there is one."""
    place = options.cache / f"{os.path.basename(folder)}.{model.digest[:12]}.{len(texts)}" if options.cache else None
    if place and place.exists():
        return bytes(place.read_bytes())
    begun = time.perf_counter()
    codes: bytes = quantised(model.encode(texts, threads=options.threads))
    print(f"{os.path.basename(folder)}: {len(texts) / (time.perf_counter() - begun):.1f} texts a second", flush=True)
    if place:
        place.write_bytes(codes)
    return codes


def retrieval(model: Compact, folder: str, options: argparse.Namespace) -> None:
    """Print nDCG@10 of the model alone, of BM25 alone, and of both."""
    corpus = [(row["_id"], f"{row['title']} {row['text']}") for row in rows(folder, "corpus.jsonl")]
    pieces = [(number, part) for number, (_, text) in enumerate(corpus) for part in chunks(text)]
    codes = encoded(model, folder, [part for _, part in pieces], options)
    owners = np.array([number for number, _ in pieces])
    firsts = np.flatnonzero(np.diff(owners, prepend=-1))
    keywords = Keywords([text for _, text in corpus])
    relevant = judgements(folder)
    for name in ("queries.jsonl", "queries.typo.jsonl"):
        found: dict[str, list[float]] = {"alone": [], "bm25": [], "both": []}
        for query in rows(folder, name):
            if wanted := relevant.get(query["_id"]):
                alone = np.maximum.reduceat(similarities(model.encode_query(query["text"]), codes), firsts)
                plain = keywords.scores(query["text"])
                sides = {"alone": alone, "bm25": plain, "both": scaled(alone) + scaled(plain)}
                for side, values in sides.items():
                    found[side].append(_ndcg(values, [one for one, _ in corpus], wanted))
        told = "  ".join(f"{side} {sum(values) / len(values):.3f}" for side, values in found.items())
        print(f"{os.path.basename(folder):18} {name:20} nDCG@10  {told}", flush=True)


def _ndcg(values: Any, documents: Sequence[str], relevant: Mapping[str, int]) -> float:
    order = np.argsort(-values, kind="stable")[:10]
    return scores([documents[number] for number in order], relevant)[0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cache", type=Path, help="keep the codes of the corpora there")
    parser.add_argument("--only-folders", action="store_true", help="no timings")
    options = parser.parse_args()
    model = open_compact()
    print(f"{model.name}: {model.dimensions} dimensions, digest {model.digest[:12]}")
    if not options.only_folders:
        cold()
        warm(model, options.threads)
    for folder in options.folders:
        retrieval(model, folder, options)


if __name__ == "__main__":
    main()
