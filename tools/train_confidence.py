"""Train the verdict of a search: whether a question belongs to a commons, and whether the best document answers it.

    python tools/train_confidence.py [--write] [--tiers keyword,static,compact] [--kept FILE] FOLDER…
        [--also FOLDER…] [--beside FOLDER…]

A FOLDER has `corpus.jsonl`, `queries.jsonl`, `queries.typo.jsonl` and `qrels.tsv`; `--also` names sets that
tools/installed_sets.py and starter_set.py made, `--beside` those by faq_sets.py and section_sets.py. A set's own
questions belong to it, clean and misspelt. Those of `foreign_questions.txt` and of the sets that are not RELATED to it
do not, except for the few in `answered_elsewhere.tsv`, which a document of the set answers all the same (found by
reading): they count as neither. All questions are asked in full and in one to three words, of whole sets, and of a few
documents of each FOLDER as a small commons; for training, also of parts of sets and of several in one
(tools/asked_commons.py). For the test, each set in turn is left out of the training entirely: its own questions are
compared with foreign ones that were not trained with, by a threshold that the other sets chose. Sets beside these, and
their questions, only train. Then all sets train what `--write` puts into deia/models/search.json; the test results go
into search.measured.json beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from asked_commons import TESTED, Press, Seen, observations, opened, remembering

from deia.search.ranking.confidence import ALL, OBSERVED
from deia.search.ranking.weights import WORDS_ALONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEARNED = Path(__file__).parent.parent / "deia" / "models" / "search.json"
TIERS = ("keyword", "static", "compact")
MEASURED = LEARNED.with_suffix(".measured.json")
STEPS, CLOSE = 60, 1e-9  # of Newton's method; ten are the rule
SEEN = "observed"  # the names of the observations, beside what was learned of them
PENALTY = 10.0  # of squared weights, over observations scaled to one standard deviation
MOST_LOST, MOST_ANSWERED = 0.03, 0.05  # wanted: the threshold is where both are equally far from it
THRESHOLDS = tuple(step / 100 for step in range(10, 91))
# Learned beside a tier, without what cannot be observed, and not measured on its own: any other sentence model is
# judged as `compact` is, without what hangs on the model's scale; a search by words looks at no vectors if there are
# none.
OTHER = "transformer"
SCALED = ("akin", "akin_squared", "long_akin")
BESIDE = {
    "compact": (OTHER, SCALED),
    "keyword": (WORDS_ALONE, ("likeness", "nearest", "contrast", "both", "long_likeness", "likeness_squared", *SCALED)),
}
LEVELS = (0.7, 0.35)  # probabilities from which a confidence is high, and medium
SHORT_COUNTS = 0.3  # a question of one word belongs to many a commons that it was not asked of
DRAWS = 400  # of the bootstrap


def logistic(inputs: Floats, wanted: Floats, importance: Floats) -> Floats:
    """Fit a logistic regression by Newton's method; return the bias and the weights of the inputs as they are."""
    middle, spread = inputs.mean(0), inputs.std(0) + 1e-9
    scaled = np.c_[np.ones(len(inputs)), (inputs - middle) / spread]
    ridge = np.diag([0.0, *[PENALTY] * inputs.shape[1]])
    weights = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        guess = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (importance * (guess - wanted)) + ridge @ weights
        curve = (scaled * (importance * guess * (1 - guess))[:, None]).T @ scaled + ridge
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < CLOSE:
            break
    plain = weights[1:] / spread
    found: Floats = np.r_[weights[0] - plain @ middle, plain]
    return found


def trained(seen: Sequence[Seen]) -> dict[str, Any]:
    """Learn both probabilities; every set counts the same, and so do its own and the foreign questions."""
    inputs = np.array([each.belonging for each in seen])
    groups = [(each.to, each.kind, each.belongs) for each in seen]
    sizes = Counter(groups)
    importance = np.array(
        [(SHORT_COUNTS if "short" in group[1] else 1.0) * len(seen) / len(sizes) / sizes[group] for group in groups]
    )
    belongs = logistic(inputs, np.array([float(each.belongs) for each in seen]), importance)
    plain = np.array([each.observed for each in without(SCALED, seen)])  # a subject tells nothing of one document
    answers = logistic(plain, np.array([float(each.answered) for each in seen]), importance)
    return {
        "belongs": [round(float(weight), 4) for weight in belongs],
        "answers": [round(float(weight), 4) for weight in answers],
        "levels": list(LEVELS),
    }


def probability(weights: Sequence[float] | Floats, inputs: Sequence[Sequence[float]]) -> Floats:
    """Return the probabilities of some observations."""
    found: Floats = 1 / (1 + np.exp(-(weights[0] + np.array(inputs) @ np.array(weights[1:]))))
    return found


def auc(guess: Floats, true: NDArray[np.bool_]) -> float:
    """Return the probability that a true one scores higher than a false one."""
    ranks = np.argsort(np.argsort(guess)) + 1
    good = int(true.sum())
    return float((ranks[true].sum() - good * (good + 1) / 2) / (good * (len(true) - good)))


def calibration_error(guess: Floats, true: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten equal bins (Naeini and others, 2015)."""
    bins = np.minimum((guess * 10).astype(int), 9)
    return float(sum(abs(guess[bins == n].mean() - true[bins == n].mean()) * (bins == n).mean() for n in set(bins)))


def interval(values: NDArray[np.bool_]) -> list[float]:
    """Return a share with its 95 % interval over draws of the questions (Efron's bootstrap)."""
    draws = np.random.default_rng(0).choice(values.astype(float), (DRAWS, len(values))).mean(1)
    return [round(float(value), 3) for value in (values.mean(), *np.quantile(draws, (0.025, 0.975)))]


def left_out(seen: Sequence[Seen]) -> tuple[list[Seen], Floats, Floats]:
    """Return the tests with both probabilities: each set by what was learned from the others."""
    tests: list[Seen] = []
    belongs, answers = [], []
    names = sorted({each.to[0] for each in seen if each.kind.startswith(TESTED)})
    for name in names:
        verdict = trained([each for each in seen if name not in (*each.to, each.of) and each.of != "everyday 1"])
        test = [
            each
            for each in seen
            if each.to == (name,) and each.kind.startswith(TESTED) and each.of in (*names, "everyday 1")
        ]
        tests += test
        belongs.append(probability(verdict["belongs"], [each.belonging for each in test]))
        answers.append(probability(verdict["answers"], [each.observed for each in test]))
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


def group_of(each: Seen) -> str:
    """Return the group of a figure: a set, whole or small, with full or short questions."""
    return f"{os.path.basename(each.to[0])}, {each.kind}"


def shares(tests: Sequence[Seen], found: NDArray[np.bool_]) -> dict[str, tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Return for each group which of its own questions are lost, and which foreign ones are answered."""
    own = np.array([each.belongs for each in tests])
    group = np.array([group_of(each) for each in tests])
    return {name: (~found[(group == name) & own], found[(group == name) & ~own]) for name in sorted(set(group))}


def means(every: Mapping[str, tuple[NDArray[np.bool_], NDArray[np.bool_]]]) -> tuple[float, float]:
    """Return the shares lost and answered, as means over the groups with full questions."""
    full = [each for name, each in every.items() if not name.endswith("short")]
    return float(np.mean([lost.mean() for lost, _ in full])), float(np.mean([told.mean() for _, told in full]))


def is_found(tests: Sequence[Seen], likely: Floats, least: Floats | float) -> NDArray[np.bool_]:
    """Return which questions are answered, as `deia.search.ranking.confidence.judge` does."""
    found: NDArray[np.bool_] = (likely >= least) | (np.array([each.belonging[0] for each in tests]) >= ALL)
    return found


def threshold(tests: Sequence[Seen], likely: Floats) -> float:
    """Return the probability from which a question belongs: both means are equally far from their targets."""

    def worst(least: float) -> float:
        lost, answered = means(shares(tests, is_found(tests, likely, least)))
        return max(lost / MOST_LOST, answered / MOST_ANSWERED)

    return min(THRESHOLDS, key=worst)


def thresholds(tests: Sequence[Seen], likely: Floats) -> Floats:
    """Return for every test the threshold that the other sets' tests choose."""
    to = np.array([each.to[0] for each in tests])
    chosen = np.zeros(len(tests))
    for name in set(to):
        others = np.flatnonzero(to != name)
        chosen[to == name] = threshold([tests[at] for at in others], likely[others])
    return chosen


def report(tier: str, seen: Sequence[Seen]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Test with every set left out, then train on all; return what was learned and the test results."""
    tests, likely, right = left_out(seen)
    found = is_found(tests, likely, thresholds(tests, likely))
    own = np.array([each.belongs for each in tests])
    answered = np.array([each.answered for each in tests])
    every = shares(tests, found)
    sets = []
    for name, (lost, foreign) in every.items():
        mine = np.array([group_of(each) == name for each in tests])
        told = {"lost": interval(lost), "answered": interval(foreign)}
        sets.append({"set": name, **told, "auc": round(auc(likely[mine], own[mine]), 3)})
        print(f"  {tier:8} {name:32} own lost {told['lost']}  foreign answered {told['answered']}", flush=True)
    shown = found & own & np.array(["short" not in each.kind for each in tests])
    measured = {
        "mean": dict(zip(("lost", "answered"), (round(each, 3) for each in means(every)), strict=True)),
        "sets": sets,
        "reliability": reliability(right[shown], answered[shown]),
        "error": round(calibration_error(right[shown], answered[shown]), 3),
    }
    learned = {**trained(seen), "least": threshold(tests, likely)}
    print(f"  {tier:8} mean {measured['mean']}  least {learned['least']}", flush=True)
    print(f"  {tier:8} calibration error {measured['error']}  {measured['reliability']}", flush=True)
    return learned, measured


def without(names: Sequence[str], seen: Sequence[Seen]) -> list[Seen]:
    """Return the observations without some of them."""
    zeroed = {OBSERVED.index(name) for name in names}

    def left(values: Sequence[float]) -> tuple[float, ...]:
        return tuple(0.0 if at in zeroed else value for at, value in enumerate(values))

    return [each._replace(observed=left(each.observed), belonging=left(each.belonging)) for each in seen]


def main() -> None:
    """Train, test, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tiers", default=",".join(TIERS))
    parser.add_argument("--kept", default="", help="keep the sentence model's vectors there from one run to the next")
    parser.add_argument("--also", nargs="*", default=[], help="sets that are trained with and tested whole alone")
    parser.add_argument("--beside", nargs="*", default=[], help="sets that are only trained with")
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    tiers = given.tiers.split(",")
    folders, also, beside = ([each.rstrip("/") for each in some] for some in (given.folders, given.also, given.beside))
    with tempfile.TemporaryDirectory() as place:
        made = [name for name in tiers if name != "keyword"] or ["static"]  # which judges what words found
        commons = list(opened(folders, also, beside, Press(place, made, given.kept)))
        for name in made:
            remembering(name)
        for tier in tiers:
            seen = observations(commons, tier)
            learned, measured = report(tier, seen)
            if given.write:
                write(tier, learned, measured)
            if tier in BESIDE:
                name, unseen = BESIDE[tier]
                judged_alone = [each._replace(belonging=each.observed) for each in seen]
                learned, _ = report(name, without(unseen, judged_alone))
                if given.write:
                    write(name, learned)


def dumped(held: Mapping[str, Any]) -> str:
    """Return what was learned as JSON, one tier per line: every cold search reads it."""
    parts = []
    for name, inner in held.items():
        lines = [f"  {json.dumps(tier)}: {json.dumps(each)}" for tier, each in inner.items()] if name != SEEN else []
        told = "{\n" + ",\n".join(lines) + "\n }" if lines else json.dumps(inner)
        parts.append(f" {json.dumps(name)}: {told}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write(tier: str, learned: dict[str, Any], measured: dict[str, Any] | None = None) -> None:
    """Save what was learned for a tier, and its test results if they are about that tier."""
    held = json.loads(LEARNED.read_text("ascii"))
    held["verdict"][tier] = learned
    held[SEEN] = list(OBSERVED)
    LEARNED.write_text(dumped(held), "ascii")
    if measured is None:
        return
    before = json.loads(MEASURED.read_text("ascii")) if MEASURED.exists() else {}
    MEASURED.write_text(json.dumps({**before, tier: measured}, indent=1) + "\n", "ascii")


if __name__ == "__main__":
    main()
