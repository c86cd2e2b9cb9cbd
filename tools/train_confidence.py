"""Train the verdict of a search: whether a question belongs to a commons, and whether the best document answers it.

    python tools/train_confidence.py [--write] [--tiers keyword,static,compact] [--kept FILE] FOLDER…

A FOLDER has `corpus.jsonl`, `queries.jsonl`, `queries.typo.jsonl` and `qrels.tsv`. What belongs to a set are its own
questions, clean and misspelt; what does not are the other sets' questions and those of `foreign_questions.txt`. All
are asked in full and in one to three words, of the whole set and of a few of its documents as a small commons. Every
set in turn is left out of the training and tested: its own questions against foreign ones that were not trained with
either. Then all of them train what `--write` puts into deia/models/search.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "bench"))

from retrieval import QUESTIONS, compiled, judgements, rows  # noqa: E402 - the line above makes it importable

from deia.match.terms import question  # noqa: E402
from deia.search.question import read_question  # noqa: E402
from deia.search.reply import find  # noqa: E402
from deia.search.retrieve import meaning_of  # noqa: E402
from deia.search.verdict import ALL, OBSERVED  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deia.search.catalog import Catalog

    Floats = NDArray[np.float64]

LEARNED = ROOT / "deia" / "models" / "search.json"
EVERYDAY = Path(__file__).with_name("foreign_questions.txt")
TIERS = ("keyword", "static", "compact")
STEPS = 60
PENALTY = 2.0  # of squared weights, over observations scaled to one standard deviation
# Above one half, since the training takes it that every second question is foreign, and an answer beside the point is
# worse than none; not much above it, since a lesson that is there and not shown is worse still.
LEAST = 0.6
LEVELS = (0.7, 0.35)  # probabilities from which a confidence is high, and medium
SAMPLE = 260  # questions of a set, evenly spread; half as many foreign ones from each other set
SHORT_COUNTS = 0.3  # a question of one word belongs to many a commons that it was not asked of
FEW = 30  # questions whose documents make a small commons


class Seen(NamedTuple):
    """What was observed for one question."""

    of: str  # where the question comes from
    to: str  # the set that it was put to
    kind: str  # of commons and of question
    observed: tuple[float, ...]
    answered: bool  # the best document is a right one

    @property
    def belongs(self) -> bool:
        """Whether the question is one of the set's own."""
        return self.of == self.to


class Commons(NamedTuple):
    """A set, or some of it, compiled."""

    folder: str
    size: str
    catalog: Catalog
    documents: set[str]


def asked(catalog: Catalog, tier: str, text: str) -> tuple[tuple[float, ...], str]:
    """Ask one question; give what is observed, and the best document."""
    meaning = meaning_of(catalog, tiers=() if tier == "keyword" else (tier,))
    if meaning.name != tier:
        sys.exit(f"there is no {tier} tier: {meaning.warning}")
    found = find(catalog, read_question(text, catalog), meaning=meaning, filters={}, limit=5)
    return tuple(found.observed), found.results[0].id if found.results else ""


def asked_by(folder: str) -> list[dict[str, Any]]:
    """Give the questions of a set, clean and misspelt in turn."""
    clean, misspelt = (rows(folder, name) for name in QUESTIONS)
    return [query for pair in zip(clean, misspelt, strict=True) for query in pair]


def spread(listed: list[Any], most: int) -> list[Any]:
    """Give some of a list, from all over it; an odd step takes clean and misspelt ones."""
    return listed[:: max(1, len(listed) // most) | 1]


def shortened(text: str, number: int) -> str:
    """Give a question as somebody in a hurry types it: its one to three longest words."""
    found = [word[0] for word in question(text)]
    kept = sorted(found, key=len, reverse=True)[: 1 + number % 3]
    return " ".join(word for word in found if word in kept)


def observations(commons: Sequence[Commons], tier: str) -> list[Seen]:
    """Put every commons its own questions, the others' and everyday ones, each also shortened."""
    everyday = EVERYDAY.read_text("utf-8").splitlines()
    seen = []
    for each in commons:
        judged = judgements(each.folder)
        relevant = {name: set(judged[name]) & each.documents for name in judged}
        own = [(query["text"], relevant[query["_id"]]) for query in asked_by(each.folder) if relevant.get(query["_id"])]
        put = [(each.folder, text, right) for text, right in spread(own, SAMPLE)]
        for other in dict.fromkeys(one.folder for one in commons):
            if other != each.folder:
                put += [(other, query["text"], set()) for query in spread(asked_by(other), SAMPLE // 2)]
        put += [(f"everyday {number % 2}", text, set()) for number, text in enumerate(everyday)]
        for number, (of, text, right) in enumerate(put):
            for short in (False, True):
                asking = shortened(text, number) if short else text
                observed, best = asked(each.catalog, tier, asking)
                seen.append(Seen(of, each.folder, f"{each.size}{' short' * short}", observed, best in right))
    return seen


def opened(folder: str, place: str, tiers: Sequence[str], kept: str) -> list[Commons]:
    """Compile a set as it is, and a few of its documents as the small commons that most teams have."""
    whole = compiled(folder, os.path.join(place, os.path.basename(folder)), tiers=tiers, kept=kept)
    corpus = rows(folder, "corpus.jsonl")
    wanted = {name for query in spread(sorted(judgements(folder).items()), FEW) for name in query[1]}
    some = [row for row in corpus if row["_id"] in wanted]
    small = os.path.join(place, f"{os.path.basename(folder)} small")
    os.makedirs(small)
    with open(os.path.join(small, "corpus.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in some)
    few = compiled(small, os.path.join(place, f"{os.path.basename(folder)} few"), tiers=tiers, kept=kept)
    every = {row["_id"] for row in corpus}
    return [Commons(folder, "large", whole, every), Commons(folder, "small", few, {row["_id"] for row in some})]


def logistic(inputs: Floats, wanted: Floats, importance: Floats) -> Floats:
    """Fit a logistic regression by Newton's method; give the bias and the weights of the inputs as they are."""
    middle, spread = inputs.mean(0), inputs.std(0) + 1e-9
    scaled = np.c_[np.ones(len(inputs)), (inputs - middle) / spread]
    ridge = np.diag([0.0, *[PENALTY] * inputs.shape[1]])
    weights = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        guess = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (importance * (guess - wanted)) + ridge @ weights
        curve = (scaled * (importance * guess * (1 - guess))[:, None]).T @ scaled + ridge
        weights -= np.linalg.solve(curve, slope)
    plain = weights[1:] / spread
    found: Floats = np.r_[weights[0] - plain @ middle, plain]
    return found


def trained(seen: Sequence[Seen]) -> dict[str, Any]:
    """Learn both probabilities; every set counts alike, and so do what belongs to it and what does not."""
    inputs = np.array([each.observed for each in seen])
    groups = [(each.to, each.kind, each.belongs) for each in seen]
    sizes = Counter(groups)
    importance = np.array(
        [(SHORT_COUNTS if "short" in group[1] else 1.0) * len(seen) / len(sizes) / sizes[group] for group in groups]
    )
    belongs = logistic(inputs, np.array([float(each.belongs) for each in seen]), importance)
    answers = logistic(inputs, np.array([float(each.answered) for each in seen]), importance)
    return {
        "belongs": [round(float(weight), 4) for weight in belongs],
        "answers": [round(float(weight), 4) for weight in answers],
        "least": LEAST,
        "levels": list(LEVELS),
    }


def probability(weights: Sequence[float] | Floats, seen: Sequence[Seen]) -> Floats:
    """Give the probabilities of some observations."""
    found: Floats = 1 / (1 + np.exp(-(weights[0] + np.array([each.observed for each in seen]) @ np.array(weights[1:]))))
    return found


def auc(guess: Floats, true: NDArray[np.bool_]) -> float:
    """Give the chance that a true one is guessed higher than a false one."""
    ranks = np.argsort(np.argsort(guess)) + 1
    good = int(true.sum())
    return float((ranks[true].sum() - good * (good + 1) / 2) / (good * (len(true) - good)))


def calibration_error(guess: Floats, true: NDArray[np.bool_]) -> float:
    """Give the expected calibration error over ten equal bins (Naeini and others, 2015)."""
    bins = np.minimum((guess * 10).astype(int), 9)
    return float(sum(abs(guess[bins == n].mean() - true[bins == n].mean()) * (bins == n).mean() for n in set(bins)))


def tested(learned: dict[str, Any], seen: Sequence[Seen]) -> str:
    """Describe how well a verdict does on questions it was not trained with."""
    belongs = np.array([each.belongs for each in seen])
    answers = np.array([each.answered for each in seen])
    likely, right = probability(learned["belongs"], seen), probability(learned["answers"], seen)
    found = (likely >= learned["least"]) | (np.array([each.observed[0] for each in seen]) >= ALL)
    sources = sorted({each.of for each in seen if not each.belongs})
    of = np.array([each.of for each in seen])
    refused = "  ".join(
        f"{os.path.basename(name)[:10]} {1 - found[(of == name) & ~belongs].mean():.2f}" for name in sources
    )
    equal = tuple(float(np.quantile(likely[belongs], lost)) for lost in (0.03,))
    return (
        f"own lost {1 - found[belongs].mean():.3f}  foreign answered {found[~belongs].mean():.3f}  "
        f"(at 3 % lost {(likely[~belongs] >= equal[0]).mean():.3f})  refused: {refused}\n"
        f"{'':22} belongs: AUC {auc(likely, belongs):.3f}  answers, own questions: AUC "
        f"{auc(right[belongs], answers[belongs]):.3f} ECE {calibration_error(right[belongs], answers[belongs]):.3f}"
        f"  all: AUC {auc(right, answers):.3f} ECE {calibration_error(right, answers):.3f}"
    )


def report(tier: str, seen: Sequence[Seen]) -> dict[str, Any]:
    """Test with every set left out, then learn from all."""
    print(tier)
    for left_out in sorted({each.to for each in seen}):
        train = [each for each in seen if left_out not in (each.to, each.of) and each.of != "everyday 1"]
        verdict = trained(train)
        for kind in sorted({each.kind for each in seen}):
            test = [each for each in seen if (each.to, each.kind) == (left_out, kind) and each.of != "everyday 0"]
            print(f"  {os.path.basename(left_out)[:8]:8} {kind:12} {tested(verdict, test)}", flush=True)
    learned = trained(seen)
    for to, kind in sorted({(each.to, each.kind) for each in seen}):
        test = [each for each in seen if (each.to, each.kind) == (to, kind)]
        print(f"  all, {os.path.basename(to)[:8]:8} {kind:12} {tested(learned, test)}")
    print(
        "  "
        + "  ".join(
            f"{name} {weight:.2f}" for name, weight in zip(("bias", *OBSERVED), learned["belongs"], strict=True)
        )
    )
    return learned


def main() -> None:
    """Train, test, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tiers", default=",".join(TIERS))
    parser.add_argument("--kept", default="", help="keep the sentence model's vectors there from one run to the next")
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    tiers = given.tiers.split(",")
    with tempfile.TemporaryDirectory() as place:
        made = [name for name in tiers if name != "keyword"]
        commons = [each for folder in given.folders for each in opened(folder, place, made, given.kept)]
        learned = {tier: report(tier, observations(commons, tier)) for tier in tiers}
    if given.write:
        held = json.loads(LEARNED.read_text("ascii"))
        held["verdict"].update(learned)
        held["observed"] = list(OBSERVED)
        LEARNED.write_text(json.dumps(held, indent=1) + "\n", "ascii")


if __name__ == "__main__":
    main()
