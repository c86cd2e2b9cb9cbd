"""How well questions are grouped by what they are about, with scikit-learn and by words alone.

    python bench/gaps.py FOLDER…

Each FOLDER has questions and the documents that answer them: `queries.jsonl` and `qrels.tsv`, as in BEIR. Questions
that the same single document answers belong together. For each set it prints B-cubed precision, recall and F1 (Bagga
and Baldwin, 1998) over the questions of 80 documents with two to eight questions each.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from deia.ledger.question_groups import group_by_meaning, group_by_words, weigh

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCUMENTS, MOST = 80, 8  # documents of a set, and questions of each
SEED = 1


def main() -> None:
    """Print the figures of every set."""
    for folder in map(Path, sys.argv[1:]):
        questions, answers = labelled(folder)
        weights = weigh(questions)
        kept = [at for at, vector in enumerate(weights) if vector]
        vectors = [weights[at] for at in kept]
        texts, labels = [questions[at] for at in kept], [answers[at] for at in kept]
        print(f"{folder.name}: {len(texts)} questions about {len(set(labels))} documents")
        for name, groups in (("by words", group_by_words(vectors)), ("and meaning", group_by_meaning(texts, vectors))):
            precision, recall = bcubed(groups, labels)
            f1 = 2 * precision * recall / (precision + recall)
            print(f"  {name:12} precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}  {len(groups)} groups")


def labelled(folder: Path) -> tuple[list[str], list[str]]:
    """Return questions in random order, and of each the document that answers it."""
    rows = map(json.loads, (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines())
    texts = {row["_id"]: row["text"] for row in rows}
    relevant: dict[str, list[str]] = defaultdict(list)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0:
            relevant[query].append(document)
    asked: dict[str, list[str]] = defaultdict(list)
    for query, documents in relevant.items():
        if len(documents) == 1 and query in texts:
            asked[documents[0]].append(texts[query])
    chance = random.Random(SEED)
    several = sorted(document for document in asked if len(asked[document]) > 1)
    chosen = chance.sample(several, min(DOCUMENTS, len(several)))
    pairs = [(text, document) for document in chosen for text in asked[document][:MOST]]
    chance.shuffle(pairs)
    return [text for text, _ in pairs], [document for _, document in pairs]


def bcubed(groups: Sequence[Sequence[int]], labels: Sequence[str]) -> tuple[float, float]:
    """Return precision and recall: of each question's group, and of each question's label, the share it shares."""
    sizes = Counter(labels)
    precision = recall = 0.0
    for group in groups:
        counts = Counter(labels[at] for at in group)
        precision += sum(counts[labels[at]] for at in group) / len(group)
        recall += sum(counts[labels[at]] / sizes[labels[at]] for at in group)
    return precision / len(labels), recall / len(labels)


if __name__ == "__main__":
    main()
