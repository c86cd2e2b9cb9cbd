"""Choose how the order in which documents are shown departs from their ranking: by meaning, length and first passages.

    python tools/tune_order.py [--write] [--kept FILE] FOLDER…

A FOLDER has `corpus.jsonl`, `queries.jsonl`, `queries.typo.jsonl` and `qrels.tsv`. The weights are chosen with the
sentence model, by nDCG@10 of clean questions, in which every set counts the same. For each set, prints what the choice
of all other sets gives it, clean and misspelt; then what the same gives with word vectors, which keep their weight of
meaning: by themselves, they would take more from length than one of the sets bears. `--write` puts what all sets choose
into deia/models/search.json.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from train_confidence import LEARNED, dumped
from tune_search import DEPTH, QUESTIONS, compiled, judgements, rows, scores

from deia.search.question.terms import named_share, read_question
from deia.search.ranking.confidence import SEEN
from deia.search.ranking.rank import Ranked, rank_documents
from deia.search.ranking.retrieve import choose_tier, retrieve
from deia.search.ranking.shown_order import additional, fit
from deia.search.ranking.weights import ShownWeights

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deia.search.catalog import Catalog

    Choice = tuple[float, float, float]  # the weight of meaning, what is owed to length, and what a first passage gains
    Table = Mapping[Choice, Mapping[str, Sequence[float]]]  # nDCG@10 of each set, clean and misspelt

MODEL, PLAIN = "compact", "static"
WEIGHTS = (0.6, 0.65, 0.7)
OWED = (0.0, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08)
FIRST = (0.0, 0.03, 0.05, 0.07, 0.1)


class Case(NamedTuple):
    """A question with its ranking, each document with how many passages it has, and with what is right."""

    ranked: Sequence[tuple[Ranked, int]]
    named: float  # the share of names in it
    relevant: Mapping[str, int]


def case(catalog: Catalog, tier: str, text: str, relevant: Mapping[str, int]) -> Case:
    """Ask one question."""
    meaning, question = choose_tier(catalog, tiers=(tier,)), read_question(text, catalog)
    evidence = retrieve(catalog, question, meaning=meaning, filters={}, limit=SEEN)
    ranked = rank_documents(catalog, question, evidence, tier=tier, limit=SEEN)
    vectors = catalog.vectors(tier)
    return Case([(each, vectors.count(each.number)) for each in ranked], named_share(question), relevant)


def quality(catalog: Catalog, cases: Sequence[Case], choice: Choice, learned: Mapping[str, float]) -> float:
    """Return the mean nDCG@10 under a choice."""
    total = 0.0
    for each in cases:
        before, after = (weight + each.named * (learned["named"] - weight) for weight in (learned["weight"], choice[0]))
        weights, more = ShownWeights(meaning=after, owed=choice[1], first=choice[2]), additional(before, after)
        worth = [fit(one, size, first=one.ordinal == 0, more=more, weights=weights) for one, size in each.ranked]
        order = sorted(range(len(worth)), key=lambda at: -worth[at])[:DEPTH]
        total += scores([catalog.id(each.ranked[at][0].number) for at in order], each.relevant)[0]
    return total / len(cases)


def table_of(
    tier: str, catalogs: Mapping[str, Catalog], learned: Mapping[str, float], choices: Iterable[Choice]
) -> Table:
    """Measure every choice on every set."""
    table: dict[Choice, dict[str, list[float]]] = {choice: {} for choice in choices}
    for folder, catalog in catalogs.items():
        judged = judgements(folder)
        kinds = [
            [case(catalog, tier, row["text"], judged[row["_id"]]) for row in rows(folder, name) if row["_id"] in judged]
            for name in QUESTIONS
        ]
        for choice, measured in table.items():
            measured[folder] = [quality(catalog, cases, choice, learned) for cases in kinds]
    return table


def chosen(table: Table, without: str = "") -> Choice:
    """Return the choice that is best on clean questions of all sets but one."""
    return max(table, key=lambda choice: sum(value[0] for name, value in table[choice].items() if name != without))


def report(table: Table, choice: Choice, before: Choice, name: str) -> None:
    """Print what a choice gives a set."""
    pairs = zip(table[choice][name], table[before][name], strict=True)
    told = "  ".join(f"{after:.4f} ({after - old:+.4f})" for after, old in pairs)
    print(f"  {os.path.basename(name):18} {_said(choice)}: {told}", flush=True)


def _said(choice: Choice) -> str:
    return "weight {:.2f}, owed {:.2f}, first {:.2f}".format(*choice)


def main() -> None:
    """Tune, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--kept", default="", help="keep the sentence model's vectors there from one run to the next")
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    held = json.loads(LEARNED.read_text("ascii"))
    model, plain = held["fusion"][MODEL], held["fusion"][PLAIN]
    with tempfile.TemporaryDirectory() as place:
        catalogs = {
            folder.rstrip("/"): compiled(folder, os.path.join(place, str(at)), tiers=(PLAIN, MODEL), kept=given.kept)
            for at, folder in enumerate(given.folders)
        }
        table = table_of(MODEL, catalogs, model, product(WEIGHTS, OWED, FIRST))
        for name in catalogs:
            report(table, chosen(table, name), (model["weight"], 0.0, 0.0), name)
        weight, owed, first = chosen(table)
        print(f"{MODEL}: all sets choose {_said((weight, owed, first))}; {PLAIN} with that:", flush=True)
        before, after = (plain["weight"], 0.0, 0.0), (plain["weight"], owed, first)
        by_words = table_of(PLAIN, catalogs, plain, (before, after))
    for name in catalogs:
        report(by_words, after, before, name)
    if given.write:
        model.update(shown=weight, owed=owed, first=first)
        plain.update(shown=plain["weight"], owed=owed, first=first)
        LEARNED.write_text(dumped(held), "ascii")


if __name__ == "__main__":
    main()
