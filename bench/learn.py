"""Measure what learning from use is worth on labelled sets: half of the questions are used, the other half judged.

    python bench/learn.py FOLDER…          BEIR layout, as for bench/retrieval.py

Every question of the first half is asked; the person opens a relevant document where the answer shows one among the
first ten, and says of it that it was useful; where none is shown, the person finds it otherwise and names it. What
`deia learn` proposes of that is applied, and the other half is asked without and with it. Beside it stands what is
naive: every word of every question becomes a keyword of its document.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from typing import TYPE_CHECKING

from deia.commons.commons import Commons
from deia.commons.index_records import Index
from deia.compile.bags import bags
from deia.knowledge import Entry, Golden
from deia.learn.changes import ADD, DOCUMENT, Change, changed
from deia.learn.drafts import draft
from deia.learn.shelf import Shelf
from deia.learn.signals import Evidence, Pair
from deia.serve.labelled import read_corpus, read_questions
from deia.serve.learning.judging import judged
from deia.serve.learning.proposing import own_words, probes_of
from deia.serve.learning.trial import Probe, Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.serve.learning.trial import Comparison

SEED = 7


def commons_of(folder: str) -> Commons:
    """Make a commons of a set's corpus."""
    corpus = read_corpus(folder)
    documents = tuple(one.but(path=f"bok/{one.path}.md") for one in corpus)
    entries = tuple(Entry(id=one.path, path=f"bok/{one.path}.md", title=one.title) for one in corpus)
    return Commons(
        root=folder, index=Index(path=""), entries=entries, documents=documents, clusters=(), query_patterns=(),
        triggers=(), cases=(),
    )  # fmt: skip


def naive(questions: Sequence[Golden], shelf: Shelf) -> list[Change]:
    """Give what adds every word of every question to its documents."""
    return [
        Change(kind=ADD, of=DOCUMENT, target=document, field="keywords", value=tuple(shelf.told(one.query).values()))
        for one in questions
        for document in one.grades
        if document in shelf.entries
    ]


def used(questions: Sequence[Golden]) -> Evidence:
    """Give what a ledger says of questions each of which one person asked, whose answers were then called useful."""
    pairs = tuple(
        Pair(question=one.query.lower(), document=document, signals={"useful": 1, "opened": 1})
        for one in questions
        for document, grade in one.grades.items()
        if grade > 0
    )
    return Evidence(pairs=pairs, asked=len(questions), worded=len(questions))


def told(name: str, found: Comparison) -> None:
    """Print what a change does to the questions that it never saw."""
    figures = ", ".join(f"{key} {found.before[key]:.3f} -> {found.after[key]:.3f}" for key in found.before)
    print(f"  {name:8} {figures}; {len(found.worse)} of {found.asked} answered worse", flush=True)


def measure(folder: str) -> None:
    """Print one set's figures."""
    commons = commons_of(folder)
    questions = read_questions(folder)
    random.Random(SEED).shuffle(questions)
    half, other = questions[: len(questions) // 2], questions[len(questions) // 2 :]
    shelf = Shelf(commons, own=frozenset(one.id for one in commons.entries), elsewhere=bags())
    evidence = used(half)
    began = time.perf_counter()
    drafts = draft(evidence, shelf)
    with Trial(commons, shelf, [*probes_of(evidence, [], bags()), *own_words(commons)]) as trial:
        kept, _ = judged(drafts, trial)
    seconds = time.perf_counter() - began
    print(f"{os.path.basename(folder)}: {len(half)} questions used, {len(other)} judged; {len(drafts)} drafts,"
          f" {len(kept)} proposals, {seconds:.0f} s", flush=True)  # fmt: skip
    probes = [Probe(question=one.query, grades=one.grades) for one in other]
    elsewhere = probes_of(Evidence(), [], bags()[::2])
    with Trial(commons, shelf, [*probes, *elsewhere]) as trial:
        told("learned", trial.tried([change for one in kept for change in one.changes], every=True))
        told("naive", trial.tried(naive(half, shelf), every=True))
    after = changed(commons, [change for one in kept for change in one.changes])
    with Trial(after, shelf, [Probe(question=one.query, grades=one.grades) for one in half]) as trial:
        print(f"  of the half that was used: nDCG@10 {sum(one.ndcg for one in trial.before.values()) / len(half):.3f}")


def main() -> None:
    """Measure every folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    for folder in parser.parse_args().folders:
        measure(folder.rstrip("/"))


if __name__ == "__main__":
    main()
