"""Measure the classification of questions: the accuracy of each type, and of whether anything has to be looked up.

    python bench/classify.py [FILE]

FILE has a JSON object on each line with `question`, `type` and `needsRetrieval`. By default these are the questions
with which the classification was trained, so the figure is too good; one that counts is of questions kept apart.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

from deia.audit.classification import TYPES, classify

LABELLED = Path(__file__).parent / "labels" / "questions.jsonl"


def main() -> None:
    """Print the accuracies, what was taken for what, and the time for a question."""
    path = Path(sys.argv[1]) if sys.argv[1:] else LABELLED
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    classify("the first one reads the tables")
    began = time.perf_counter()
    found = [classify(row["question"]) for row in rows]
    micros = (time.perf_counter() - began) / len(rows) * 1e6
    pairs = list(zip(rows, found, strict=True))
    for name in TYPES:
        of_type = [one.type == name for row, one in pairs if row["type"] == name]
        print(f"{name:15} {sum(of_type) / max(1, len(of_type)):.3f} of {len(of_type)}")
    print(f"{'type':15} {sum(one.type == row['type'] for row, one in pairs) / len(rows):.3f} of {len(rows)}")
    needed = sum(one.needs_retrieval == row["needsRetrieval"] for row, one in pairs) / len(rows)
    print(f"{'needsRetrieval':15} {needed:.3f} of {len(rows)}")
    print(f"{'asked back':15} {sum(bool(one.clarify) for one in found)}")
    confused = Counter(f"{row['type']} taken for {one.type}" for row, one in pairs if one.type != row["type"])
    print("; ".join(f"{name} {count}" for name, count in confused.most_common(5)))
    print(f"{micros:.0f} µs a question")


if __name__ == "__main__":
    main()
