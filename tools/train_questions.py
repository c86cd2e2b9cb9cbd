"""Train the classification of questions: their type, and whether anything has to be looked up for them.

    python tools/train_questions.py [--write] [FILE]
    python tools/train_questions.py --score FILE

FILE has a JSON object on each line with `question`, `type` and `needsRetrieval`, as bench/labels/questions.jsonl. The
accuracy that is printed is of ten parts, each judged by what the other nine teach. `--write` puts what all of them
teach into deia/models/questions.json. `--score` says how well deia as it is classifies questions that taught nothing,
such as bench/labels/questions_held_out.jsonl.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deia.audit.classification import CONVERSATIONAL, TYPES, _words, announced_act, classify, features, meaning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Row = dict[str, str | bool]
    Weights = dict[str, float]

ROOT = Path(__file__).parent.parent
LABELLED, LEARNED = ROOT / "bench" / "labels" / "questions.jsonl", ROOT / "deia" / "models" / "questions.json"
FEWEST = 3  # questions in which a feature occurs
PENALTY = 3.0  # of squared weights; 2 and 4 measured alike
STEPS, RATE = 400, 0.5
PARTS = 10
LEAST = 0.02  # a weight that is kept


def train(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the weights of each model, by feature, and those of the meaning."""
    counts = Counter(name for row in rows for name in features(str(row["question"])))
    names = ["", *sorted(name for name, count in counts.items() if count >= FEWEST)]
    inputs = np.array([[*_inputs(row, names), *meaning(str(row["question"]))] for row in rows])
    kinds = np.array([TYPES.index(str(row["type"])) for row in rows])
    by_type = _fit(inputs, kinds, len(TYPES))
    models = {f"type {kind}": by_type[:, number] for number, kind in enumerate(TYPES)}
    needed = _fit(inputs, np.array([int(bool(row["needsRetrieval"])) for row in rows]), 2)
    models["retrieval"] = needed[:, 1] - needed[:, 0]
    learned: dict[str, Any] = {
        model: {
            name: round(float(weight), 3) for name, weight in zip(names, weights, strict=False) if abs(weight) > LEAST
        }
        | {"": round(float(weights[0]), 3)}
        for model, weights in models.items()
    }
    of_meaning = {model: [round(float(one), 3) for one in weights[len(names) :]] for model, weights in models.items()}
    return learned | {"meaning": of_meaning}


def _inputs(row: Row, names: Sequence[str]) -> list[float]:
    found = features(str(row["question"])) | {""}
    return [float(name in found) for name in names]


def _fit(inputs: NDArray[np.float64], wanted: NDArray[np.int64], kinds: int) -> NDArray[np.float64]:
    """Fit a logistic regression over several kinds by descending its gradient."""
    weights, target = np.zeros((inputs.shape[1], kinds)), np.eye(kinds)[wanted]
    ridge = np.full((inputs.shape[1], 1), PENALTY)
    ridge[0] = 0
    for _ in range(STEPS):
        powers = np.exp(inputs @ weights - (inputs @ weights).max(1, keepdims=True))
        guess = powers / powers.sum(1, keepdims=True)
        weights -= RATE * (inputs.T @ (guess - target) + ridge * weights) / len(inputs) * 4
    return weights


def answered(row: Row, models: dict[str, Any]) -> tuple[str, bool]:
    """Return what models say of a question."""
    text = str(row["question"])
    found, vector = features(text) | {""}, meaning(text)
    odds = {
        name: sum(models[name].get(one, 0.0) for one in found) + float(np.dot(models["meaning"][name], vector))
        for name in models["meaning"]
    }
    announced = announced_act(_words(text))
    kind = CONVERSATIONAL if announced else max(TYPES, key=lambda name: odds[f"type {name}"])
    return kind, bool(announced) or odds["retrieval"] > 0


def score(rows: Sequence[Row]) -> None:
    """Print how many questions deia classifies rightly."""
    right = [0, 0]
    for row in rows:
        told = classify(str(row["question"]))
        right[0] += told.type == row["type"]
        right[1] += told.needs_retrieval == row["needsRetrieval"]
    print(f"type {right[0] / len(rows):.3f}, needsRetrieval {right[1] / len(rows):.3f}, of {len(rows)} questions")


def main() -> None:
    """Measure, and write if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=LABELLED)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--score", action="store_true")
    options = parser.parse_args()
    rows: list[Row] = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines()]
    if options.score:
        score(rows)
        return
    order = np.random.default_rng(7).permutation(len(rows))
    right = [0, 0]
    for part in range(PARTS):
        left_out = set(order[part::PARTS].tolist())
        models = train([row for number, row in enumerate(rows) if number not in left_out])
        for number in sorted(left_out):
            kind, needed = answered(rows[number], models)
            right[0] += kind == rows[number]["type"]
            right[1] += needed == rows[number]["needsRetrieval"]
            if kind != rows[number]["type"] or needed != rows[number]["needsRetrieval"]:
                print(rows[number]["type"], rows[number]["needsRetrieval"], "→", kind, needed, rows[number]["question"])
    print(f"type {right[0] / len(rows):.3f}, needsRetrieval {right[1] / len(rows):.3f}, of {len(rows)} questions")
    if options.write:
        LEARNED.write_text(json.dumps(train(rows), sort_keys=True, ensure_ascii=True) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
