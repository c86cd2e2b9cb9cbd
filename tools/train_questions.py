"""Train the classification of questions: their type, and whether anything has to be looked up for them.

    python tools/train_questions.py [--write] [FILE]

FILE has a JSON object on each line with `question`, `type` and `needsRetrieval`, as bench/labels/questions.jsonl. The
accuracy that is printed is of ten parts, each judged by what the other nine teach. `--write` puts what all of them
teach into deia/models/questions.json.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deia.audit.classification import CONVERSATIONAL, TYPES, _words, announced_act, features

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


def train(rows: Sequence[Row]) -> dict[str, Weights]:
    """Return the weights of each model."""
    counts = Counter(name for row in rows for name in features(str(row["question"])))
    names = ["", *sorted(name for name, count in counts.items() if count >= FEWEST)]
    inputs = np.array([_inputs(row, names) for row in rows])
    kinds = np.array([TYPES.index(str(row["type"])) for row in rows])
    learned = _fit(inputs, kinds, len(TYPES))
    models = {f"type {kind}": learned[:, number] for number, kind in enumerate(TYPES)}
    needed = _fit(inputs, np.array([int(bool(row["needsRetrieval"])) for row in rows]), 2)
    models["retrieval"] = needed[:, 1] - needed[:, 0]
    return {
        model: {
            name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True) if abs(weight) > 0.02
        }
        | {"": round(float(weights[0]), 3)}
        for model, weights in models.items()
    }


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


def answered(row: Row, models: dict[str, Weights]) -> tuple[str, bool]:
    """Return what models say of a question."""
    text = str(row["question"])
    found = features(text) | {""}
    odds = {name: sum(weights.get(one, 0.0) for one in found) for name, weights in models.items()}
    announced = announced_act(_words(text))
    kind = CONVERSATIONAL if announced else max(TYPES, key=lambda name: odds[f"type {name}"])
    return kind, bool(announced) or odds["retrieval"] > 0


def main() -> None:
    """Measure, and write if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=LABELLED)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows: list[Row] = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines()]
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
