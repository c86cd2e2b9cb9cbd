"""Measure on labelled sets what learning from use is worth: half of the questions are used, the other half judged.

    python bench/learn.py FOLDER… [--halves 5]          BEIR layout, as for bench/retrieval.py

Every question of the first half is asked. If the answer shows a relevant document among the first ten, the person opens
it and calls it useful; otherwise the person finds it by other means and names it. The proposals that `deia learn` makes
from this are applied, and the other half is asked without and with them. The naive method is measured for comparison:
every word of every question becomes a keyword of its document. All of it is repeated with several random halves.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from typing import TYPE_CHECKING

from retrieval import judgements, rows

from deia.commons.index.index_records import Index
from deia.commons.index.load_commons import Commons
from deia.knowledge import Document, Entry, Golden
from deia.learn.changes import ADD, DOCUMENT, Change
from deia.learn.corpus_words import Vocabulary, bags
from deia.learn.index_drafts import draft
from deia.learn.signals import Evidence, Pair
from deia.learn.trials.index_trial import IndexTrial, Probe
from deia.learn.trials.judge_drafts import judge_drafts
from deia.learn.trials.propose import own_words, probes_of
from deia.learn.trials.reach import choose_reach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.learn.trials.index_trial import Comparison

SEED = 7


def commons_of(folder: str) -> Commons:
    """Make a commons of a set's corpus."""
    corpus = rows(folder, "corpus.jsonl")
    entries = tuple(Entry(id=row["_id"], path=f"bok/{row['_id']}.md", title=row["title"]) for row in corpus)
    documents = tuple(Document(path=f"bok/{row['_id']}.md", title=row["title"], text=row["text"]) for row in corpus)
    return Commons(
        root=folder, index=Index(path=""), entries=entries, documents=documents, clusters=(), query_patterns=(),
        triggers=(), cases=(),
    )  # fmt: skip


def naive(questions: Sequence[Golden], vocabulary: Vocabulary) -> list[Change]:
    """Return the changes that add every word of every question to its documents."""
    return [
        Change(kind=ADD, of=DOCUMENT, target=document, field="keywords", value=words)
        for one in questions
        for words in [tuple(vocabulary.words_by_stem(one.query).values())]
        for document in one.grades
        if document in vocabulary.entries
    ]


def used(questions: Sequence[Golden]) -> Evidence:
    """Return the evidence of questions that one person each asked, and whose answers were called useful."""
    pairs = tuple(
        Pair(question=one.query.lower(), document=document, signals={"useful": 1, "opened": 1})
        for one in questions
        for document, grade in one.grades.items()
        if grade > 0
    )
    return Evidence(pairs=pairs, asked=len(questions), worded=len(questions))


def halves(questions: Sequence[Golden], seed: int) -> tuple[list[Golden], list[Golden]]:
    """Split questions at random."""
    mixed = list(questions)
    random.Random(seed).shuffle(mixed)
    return mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]


def learned(evidence: Evidence, commons: Commons, vocabulary: Vocabulary) -> tuple[list[Change], str]:
    """Return what would be applied, and the evidence that it is made from."""
    began = time.process_time()
    with IndexTrial(commons, vocabulary, [*probes_of(evidence, [], bags()), *own_words(commons)]) as trial:
        reach = choose_reach(evidence, vocabulary, trial).reach
        kept, _ = judge_drafts(draft(evidence, vocabulary, reach=reach), trial, reach=reach)
    standing = ", standing" * reach.is_standing
    return (
        [change for one in kept for change in one.changes],
        f"{reach.name}{standing}: {len(kept)} proposals in {time.process_time() - began:.0f} s",
    )


def told(name: str, rows: Sequence[Comparison]) -> None:
    """Print the effect of changes on questions that they never saw: means, and the spread of the difference."""
    parts = []
    for key in rows[0].before:
        apart = [row.after[key] - row.before[key] for row in rows]
        spread = statistics.stdev(apart) if len(apart) > 1 else 0.0
        before = statistics.mean(row.before[key] for row in rows)
        parts.append(f"{key} {before:.3f} {statistics.mean(apart):+.3f} ± {spread:.3f}")
    worst = min(row.after["nDCG@10"] - row.before["nDCG@10"] for row in rows)
    print(f"  {name:8} {'; '.join(parts)}; nDCG@10 at worst {worst:+.3f}", flush=True)


def measure(folder: str, number: int) -> None:
    """Print one set's figures."""
    commons = commons_of(folder)
    grades = judgements(folder)
    asked = [row for row in rows(folder, "queries.jsonl") if row["_id"] in grades]
    questions = [Golden(query=row["text"], grades=grades[row["_id"]]) for row in asked]
    vocabulary = Vocabulary(commons, own=frozenset(one.id for one in commons.entries), elsewhere=bags())
    compared: dict[str, list[Comparison]] = {"learned": [], "naive": []}
    print(f"{os.path.basename(folder)}: {len(questions)} questions, half of them used, {number} times", flush=True)
    for seed in range(SEED, SEED + number):
        half, other = halves(questions, seed)
        changes, how = learned(used(half), commons, vocabulary)
        probes = [Probe(question=one.query, grades=one.grades) for one in other]
        with IndexTrial(commons, vocabulary, [*probes, *probes_of(Evidence(), [], bags()[::2])]) as trial:
            compared["learned"].append(trial.try_changes(changes, every=True))
            compared["naive"].append(trial.try_changes(naive(half, vocabulary), every=True))
        last = compared["learned"][-1]
        print(f"  {how}; nDCG@10 {last.before['nDCG@10']:.3f} -> {last.after['nDCG@10']:.3f}", flush=True)
    for name, found in compared.items():
        told(name, found)


def main() -> None:
    """Measure every folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--halves", type=int, default=5, help="how often questions are parted anew")
    given = parser.parse_args()
    for folder in given.folders:
        measure(folder.rstrip("/"), given.halves)


if __name__ == "__main__":
    main()
