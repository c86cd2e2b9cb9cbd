"""Measure how well the ledger distinguishes a question asked again in other words from the next question.

    python bench/alike.py FOLDER…

A FOLDER is a labelled set (`corpus.jsonl`, `queries.jsonl`, `queries.typo.jsonl`, `qrels.tsv`). Pairs asked again are a
question and its misspelt form and, if the ids say so (`NAME#s…` and `NAME#d…`), the two wordings of one thing. Other
pairs are questions that have no relevant document in common. `static_pairs.tsv` adds paraphrases that were written to
share no word. The decision is made by the same SQL as the view `rephrasings`.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections import defaultdict
from pathlib import Path

import duckdb

from deia.ledger.warehouse_schema import ALIKE, WORDS_OF

PAIRS = 4000
HERE = Path(__file__).parent
Pairs = list[tuple[str, str]]


def main() -> None:
    """Print for each set how many pairs of each kind are judged to be alike."""
    for folder in map(Path, sys.argv[1:]):
        told = {"misspelt": misspelt(folder), "two wordings": two_wordings(folder), "other": others(folder)}
        print(folder.name, *(f"{name} {share(pairs)}" for name, pairs in told.items() if pairs), sep="  ")
    rows = [line.split("\t") for line in (HERE / "static_pairs.tsv").read_text(encoding="utf-8").splitlines()]
    print("static_pairs", f"paraphrases {share([(row[1], row[2]) for row in rows if len(row) == 3])}", sep="  ")


def share(pairs: Pairs) -> str:
    """Return how many of some pairs are alike, in percent."""
    alike = ALIKE.format(WORDS_OF.format("lower(p[1])"), WORDS_OF.format("lower(p[2])"))
    asked = "SELECT 100 * avg((" + alike + ")::INT) FROM (SELECT unnest($1::VARCHAR[][]) AS p)"  # noqa: S608 - our own words
    (found,) = duckdb.execute(asked, [[list(pair) for pair in pairs]]).fetchone() or (0.0,)
    return f"{found:.1f} % of {len(pairs):,}"


def texts(path: Path) -> dict[str, str]:
    """Return the questions of a file by their ids."""
    if not path.exists():
        return {}
    read = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["_id"]: row["text"] for row in read}


def relevant(folder: Path) -> dict[str, set[str]]:
    """Return the documents of each question."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in (line.split("\t") for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()):
        found[row[0]].add(row[-2] if len(row) > 3 else row[1])
    return found


def misspelt(folder: Path) -> Pairs:
    """Return the questions with their misspelt forms."""
    typed = texts(folder / "queries.typo.jsonl")
    asked = texts(folder / "queries.jsonl")
    return [(text, typed[name]) for name, text in asked.items() if typed.get(name, text) != text]


def two_wordings(folder: Path) -> Pairs:
    """Return the pairs that word one thing as a summary and as a description."""
    asked, documents = texts(folder / "queries.jsonl"), relevant(folder)
    named: dict[str, list[str]] = defaultdict(list)
    for name in asked:
        named[name.partition("#")[0]].append(name)
    pairs = (pair for names in named.values() for pair in itertools.combinations(names, 2))
    return [
        (asked[one], asked[other])
        for one, other in pairs
        if documents[one] & documents[other] and one.partition("#")[2][:1] != other.partition("#")[2][:1]
    ]


def others(folder: Path) -> Pairs:
    """Return pairs of questions about different things of one field."""
    chance = random.Random(5)
    asked, documents = texts(folder / "queries.jsonl"), relevant(folder)
    names = sorted(asked)
    pairs: Pairs = []
    while len(pairs) < PAIRS:
        one, other = chance.sample(names, 2)
        if not documents[one] & documents[other]:
            pairs.append((asked[one], asked[other]))
    return pairs


if __name__ == "__main__":
    main()
