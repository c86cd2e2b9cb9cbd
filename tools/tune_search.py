"""Choose the weight of meaning against words in a search, on labelled questions and on names.

    python tools/tune_search.py [--write] [--tiers static,compact] [--kept FILE] FOLDER…

A FOLDER has `corpus.jsonl`, `queries.jsonl`, `queries.typo.jsonl` and `qrels.tsv`. Prints nDCG@10 of every weight and
set, clean and misspelt; then, for every set, the weight that is best on the others and its result on the one left out;
then how often a name that only one or two documents contain finds one of them first, by itself and in a question.
`--write` puts two weights into deia/models/search.json: the one that is best over all sets and, for questions with
names, the heaviest that loses at most one name in a hundred.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "bench"))

from retrieval import DEPTH, QUESTIONS, compiled, judgements, rows, scores  # noqa: E402 - the line above finds it
from train_confidence import dumped  # noqa: E402 - likewise

from deia.match.tokeniser import words  # noqa: E402
from deia.search.question.terms import read_question  # noqa: E402
from deia.search.ranking.rank import Evidence, rank  # noqa: E402
from deia.search.ranking.retrieve import choose_tier, retrieve  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from deia.search.catalog import Catalog

LEARNED = ROOT / "deia" / "models" / "search.json"
WEIGHTS = tuple(step / 20 for step in range(15))
EQUAL = 0.0015  # of nDCG: of weights that are no further from the best the lightest is taken
LOST = 0.01  # of the names
MOST_NAMES = 150  # of a set
FORMS = ("{}", "what does {} mean and how do I fix it")


class Case(NamedTuple):
    """A question with its results, before words and meaning are weighed."""

    evidence: Evidence
    relevant: Mapping[str, int]


def case(catalog: Catalog, tier: str, text: str, relevant: Mapping[str, int]) -> Case:
    """Ask one question."""
    meaning = choose_tier(catalog, tiers=(tier,))
    if meaning.tier is None:
        sys.exit(f"there is no {tier} tier: {meaning.warning}")
    evidence = retrieve(catalog, read_question(text, catalog), meaning=meaning, filters={}, limit=DEPTH)
    return Case(evidence, relevant)


def order(catalog: Catalog, given: Case, weight: float) -> list[str]:
    """Return the best documents under a weight."""
    ranked = rank(given.evidence.hits, likeness=given.evidence.likeness, meaning=weight, most=DEPTH)
    return [catalog.id(each.number) for each in ranked[:DEPTH]]


def quality(catalog: Catalog, cases: Sequence[Case], weight: float) -> float:
    """Return the mean nDCG@10."""
    return sum(scores(order(catalog, each, weight), each.relevant)[0] for each in cases) / len(cases)


def names_of(folder: str) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Yield names that one or two documents contain, in their texts or titles, with these documents."""
    holders: dict[str, dict[str, int]] = {}
    for row in rows(folder, "corpus.jsonl"):
        for token in set(f"{row['title']} {row['text']}".split()):
            if token.isidentifier() and any(len(word) > 1 for word in words(token)):
                holders.setdefault(token, {})[row["_id"]] = 1
    rare = sorted((name, held) for name, held in holders.items() if len(held) <= 2)
    yield from rare[:: max(1, len(rare) // MOST_NAMES)]


def _first(catalog: Catalog, given: Case, weight: float) -> bool:
    found = order(catalog, given, weight)
    return bool(found) and found[0] in given.relevant


def tune(tier: str, catalogs: Mapping[str, Catalog]) -> dict[str, float]:
    """Print all figures of a tier; return its weights."""
    print(f"{tier}: weight, then nDCG@10 clean and misspelt of {', '.join(map(os.path.basename, catalogs))}")
    table: dict[float, dict[str, float]] = {weight: {} for weight in WEIGHTS}
    for folder, catalog in catalogs.items():
        judged = judgements(folder)
        kinds = [
            [case(catalog, tier, row["text"], judged[row["_id"]]) for row in rows(folder, name) if row["_id"] in judged]
            for name in QUESTIONS
        ]
        for weight in WEIGHTS:
            table[weight][folder] = sum(found := [quality(catalog, cases, weight) for cases in kinds]) / len(found)
            print(f"  {os.path.basename(folder):18} {weight:.2f}  " + " ".join(f"{value:.4f}" for value in found))
    means = {weight: sum(table[weight].values()) / len(catalogs) for weight in WEIGHTS}
    best = min(weight for weight in WEIGHTS if means[weight] >= max(means.values()) - EQUAL)
    print(f"  best over all: {best:.2f}, mean {means[best]:.4f}")
    for left_out in catalogs:
        chosen = max(
            WEIGHTS, key=lambda weight: sum(value for name, value in table[weight].items() if name != left_out)
        )
        print(
            f"  chosen without {os.path.basename(left_out)}: {chosen:.2f}, giving it {table[chosen][left_out]:.4f} "
            f"(its own best {max(table[weight][left_out] for weight in WEIGHTS):.4f})"
        )
    return {"weight": best, "named": min(best, _heaviest_for_names(tier, catalogs))}


def _heaviest_for_names(tier: str, catalogs: Mapping[str, Catalog]) -> float:
    asked = [
        (catalog, case(catalog, tier, form.format(name), held))
        for folder, catalog in catalogs.items()
        for name, held in names_of(folder)
        for form in FORMS
    ]
    found = {weight: sum(_first(catalog, each, weight) for catalog, each in asked) for weight in WEIGHTS}
    print("  names found first: " + "  ".join(f"{weight:.2f} {found[weight] / len(asked):.3f}" for weight in WEIGHTS))
    return max(weight for weight in WEIGHTS if found[weight] >= found[0.0] - LOST * len(asked))


def main() -> None:
    """Tune, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tiers", default="static")
    parser.add_argument("--kept", default="", help="keep the sentence model's vectors there from one run to the next")
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    tiers = given.tiers.split(",")
    with tempfile.TemporaryDirectory() as place:
        catalogs = {
            folder: compiled(folder, os.path.join(place, str(at)), tiers=tiers, kept=given.kept)
            for at, folder in enumerate(given.folders)
        }
        chosen = {tier: tune(tier, catalogs) for tier in tiers}
    if given.write:
        held = json.loads(LEARNED.read_text("ascii"))
        for tier, weights in chosen.items():
            held["fusion"][tier].update(weights)
        LEARNED.write_text(dumped(held), "ascii")


if __name__ == "__main__":
    main()
