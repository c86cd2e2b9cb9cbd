"""Train the verdict of a search: whether a question belongs to a commons, and whether the best document answers it.

    python tools/train_confidence.py [--write] [--tiers keyword,static,compact] [--kept FILE] FOLDER… [--also FOLDER…]

A FOLDER has `corpus.jsonl`, `queries.jsonl`, `queries.typo.jsonl` and `qrels.tsv`; `--also` are sets that
tools/installed_sets.py made. What belongs to a set are its own questions, clean and misspelt; what does not are those
of `foreign_questions.txt` and of the sets that are not RELATED to it. All are asked in full and in one to three words,
of whole sets, and of a few documents of each FOLDER as a small commons. Every set in turn is left out of the training
and tested: its own questions against foreign ones, none of them trained with. Then all of them train what `--write`
puts into deia/models/search.json, and what the tests came to into search.measured.json beside it.
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

from deia.knowledge import Query  # noqa: E402
from deia.match.terms import question  # noqa: E402
from deia.search.question import read_question  # noqa: E402
from deia.search.reply import find  # noqa: E402
from deia.search.retrieve import meaning_of  # noqa: E402
from deia.search.understood import understand  # noqa: E402
from deia.search.verdict import ALL, OBSERVED  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deia.search.catalog import Catalog

    Floats = NDArray[np.float64]

LEARNED = ROOT / "deia" / "models" / "search.json"
EVERYDAY = Path(__file__).with_name("foreign_questions.txt")
TIERS = ("keyword", "static", "compact")
MEASURED = LEARNED.with_suffix(".measured.json")
STEPS = 60
PENALTY = 2.0  # of squared weights, over observations scaled to one standard deviation
# Where, on sets that were left out, what is lost of the own questions (3 %) and what is answered of the foreign (5 %)
# are equally far from what is wanted.
LEAST = 0.45
LEVELS = (0.7, 0.35)  # probabilities from which a confidence is high, and medium
SAMPLE = 120  # questions of a set, evenly spread
OTHERS = 24  # of each other set
EVERYDAY_STEP = 2
SHORT_COUNTS = 0.3  # a question of one word belongs to many a commons that it was not asked of
FEW = 30  # questions whose documents make a small commons
DRAWS = 400  # of the bootstrap
# Sets that share a subject: a question to one may well be answered by another, so that it counts as neither.
RELATED = (
    {"tldr-nl2bash", "git", "gcloud", "systemd", "openssl", "postgres", "syscalls", "stdlib"},
    {"k8s-runbooks", "gcloud", "systemd"},
    {"owasp-checklist", "openssl"},
    {"openssl", "syscalls"},
    {"sklearn", "torch", "sympy"},
    {"stdlib", "ruff", "torch", "syscalls"},
    {"networkx", "sympy"},
)


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
    understood = understand(catalog, Query(text=text))
    put = read_question(understood.query.text, catalog, strong=understood.strong)
    found = find(catalog, put, meaning=meaning, filters=understood.filters, limit=5)
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


def related(one: str, other: str) -> bool:
    """Tell whether two sets share a subject."""
    return any({os.path.basename(one), os.path.basename(other)} <= together for together in RELATED)


def questions_to(each: Commons, folders: Sequence[str]) -> list[tuple[str, str, set[str]]]:
    """Give what a commons is asked: where the question comes from, its words, and the documents that answer it."""
    judged = judgements(each.folder)
    relevant = {name: set(judged[name]) & each.documents for name in judged}
    own = [(query["text"], relevant[query["_id"]]) for query in asked_by(each.folder) if relevant.get(query["_id"])]
    put = [(each.folder, text, right) for text, right in spread(own, SAMPLE)]
    for other in folders:
        if other != each.folder and not related(other, each.folder):
            put += [(other, query["text"], set()) for query in spread(asked_by(other), OTHERS)]
    everyday = EVERYDAY.read_text("utf-8").splitlines()[::EVERYDAY_STEP]
    return put + [(f"everyday {number % 2}", text, set()) for number, text in enumerate(everyday)]


def observations(commons: Sequence[Commons], tier: str) -> list[Seen]:
    """Put every commons its own questions, the others' and everyday ones, each also shortened."""
    folders = list(dict.fromkeys(each.folder for each in commons))
    seen = []
    for each in commons:
        for number, (of, text, right) in enumerate(questions_to(each, folders)):
            for short in (False, True):
                asking = shortened(text, number) if short else text
                observed, best = asked(each.catalog, tier, asking)
                seen.append(Seen(of, each.folder, f"{each.size}{' short' * short}", observed, best in right))
    return seen


def opened(folder: str, place: str, tiers: Sequence[str], kept: str, *, small: bool) -> list[Commons]:
    """Compile a set as it is, and a few of its documents as the small commons that most teams have."""
    name = os.path.basename(folder)
    whole = compiled(folder, os.path.join(place, name), tiers=tiers, kept=kept)
    corpus = rows(folder, "corpus.jsonl")
    every = [Commons(folder, "whole", whole, {row["_id"] for row in corpus})]
    if not small:
        return every
    wanted = {document for query in spread(sorted(judgements(folder).items()), FEW) for document in query[1]}
    some = [row for row in corpus if row["_id"] in wanted]
    source = os.path.join(place, f"{name} small")
    os.makedirs(source)
    with open(os.path.join(source, "corpus.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in some)
    few = compiled(source, os.path.join(place, f"{name} few"), tiers=tiers, kept=kept)
    return [*every, Commons(folder, "small", few, {row["_id"] for row in some})]


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


def interval(values: NDArray[np.bool_]) -> list[float]:
    """Give a share with the bounds that hold in 95 of 100 draws of the questions (Efron's bootstrap)."""
    draws = np.random.default_rng(0).choice(values.astype(float), (DRAWS, len(values))).mean(1)
    return [round(float(value), 3) for value in (values.mean(), *np.quantile(draws, (0.025, 0.975)))]


def left_out(seen: Sequence[Seen]) -> tuple[list[Seen], Floats, Floats]:
    """Give what is tested, with both probabilities: of every set by what was learned from the others."""
    tests: list[Seen] = []
    belongs, answers = [], []
    for name in sorted({each.to for each in seen}):
        verdict = trained([each for each in seen if name not in (each.to, each.of) and each.of != "everyday 1"])
        test = [each for each in seen if each.to == name and each.of != "everyday 0"]
        tests += test
        belongs.append(probability(verdict["belongs"], test))
        answers.append(probability(verdict["answers"], test))
    return tests, np.concatenate(belongs), np.concatenate(answers)


def reliability(right: Floats, answered: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Give, for each name of a confidence, how often the best document was right."""
    bounds = (1.01, *LEVELS, 0.0)
    found = []
    for name, above, least in zip(("high", "medium", "low"), bounds, bounds[1:], strict=False):
        inside = (right >= least) & (right < above)
        if inside.any():
            told = {"said": round(float(right[inside].mean()), 3), "was": interval(answered[inside])}
            found.append({"confidence": name, "questions": int(inside.sum()), **told})
    return found


def report(tier: str, seen: Sequence[Seen]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Test with every set left out, then learn from all; give what was learned and what the tests came to."""
    tests, likely, right = left_out(seen)
    found = (likely >= LEAST) | (np.array([each.observed[0] for each in tests]) >= ALL)
    own = np.array([each.belongs for each in tests])
    answered = np.array([each.answered for each in tests])
    group = np.array([f"{os.path.basename(each.to)}, {each.kind}" for each in tests])
    sets = []
    for name in sorted(set(group)):
        mine, foreign = (group == name) & own, (group == name) & ~own
        told = {"lost": interval(~found[mine]), "answered": interval(found[foreign])}
        sets.append({"set": name, **told, "auc": round(auc(likely[group == name], own[group == name]), 3)})
        print(f"  {tier:8} {name:32} own lost {told['lost']}  foreign answered {told['answered']}", flush=True)
    full = [each for each in sets if not each["set"].endswith("short")]
    means = {key: round(float(np.mean([each[key][0] for each in full])), 3) for key in ("lost", "answered")}
    told = found & own & np.array(["short" not in each.kind for each in tests])
    measured = {
        "mean": means,
        "sets": sets,
        "reliability": reliability(right[told], answered[told]),
        "error": round(calibration_error(right[told], answered[told]), 3),
    }
    print(f"  {tier:8} mean {means}  calibration error {measured['error']}  {measured['reliability']}", flush=True)
    return trained(seen), measured


def main() -> None:
    """Train, test, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tiers", default=",".join(TIERS))
    parser.add_argument("--kept", default="", help="keep the sentence model's vectors there from one run to the next")
    parser.add_argument("--also", nargs="*", default=[], help="sets that are trained with and tested whole alone")
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    tiers = given.tiers.split(",")
    with tempfile.TemporaryDirectory() as place:
        made = [name for name in tiers if name != "keyword"]
        commons = [
            each
            for folder in (*given.folders, *given.also)
            for each in opened(folder.rstrip("/"), place, made, given.kept, small=folder in given.folders)
        ]
        for tier in tiers:
            learned, measured = report(tier, observations(commons, tier))
            if given.write:
                write(tier, learned, measured)


def write(tier: str, learned: dict[str, Any], measured: dict[str, Any]) -> None:
    """Keep what was learned of a tier, and what the tests of it came to."""
    held = json.loads(LEARNED.read_text("ascii"))
    held["verdict"][tier] = learned
    held["observed"] = list(OBSERVED)
    LEARNED.write_text(json.dumps(held, indent=1) + "\n", "ascii")
    before = json.loads(MEASURED.read_text("ascii")) if MEASURED.exists() else {}
    MEASURED.write_text(json.dumps({**before, tier: measured}, indent=1) + "\n", "ascii")


if __name__ == "__main__":
    main()
