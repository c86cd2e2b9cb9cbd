"""How far words carry over is learned from questions that were left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.commons.index.index_records import Index
from deia.commons.index.load_commons import Commons
from deia.knowledge import Document, Entry
from deia.learn.corpus_words import Vocabulary
from deia.learn.index_drafts import CAREFUL
from deia.learn.signals import Evidence, Pair
from deia.learn.trials.index_trial import IndexTrial
from deia.learn.trials.propose import probes_of
from deia.learn.trials.reach import PARTS, ReachChoice, certainty, choose_reach, part_of

if TYPE_CHECKING:
    from collections.abc import Iterable

THINGS = ["anchor", "basket", "candle", "drawer", "engine", "funnel", "garden", "hammer", "island", "jacket", "kettle"]
SAID = ["amber", "bronze", "copper", "denim", "ebony", "flint", "granite", "hazel", "ivory", "jasper", "khaki"]


def reached(asked: Iterable[tuple[str, str]]) -> ReachChoice:
    entries = tuple(Entry(id=one, path=f"bok/{one}.md", title=f"The {one}") for one in THINGS)
    # Every document tells the words that people have for another.
    texts = [f"# The {one}\n\nThe {one} is not {SAID[(at + 1) % len(SAID)]}." for at, one in enumerate(THINGS)]
    documents = tuple(
        Document(path=one.path, title=one.title, text=text) for one, text in zip(entries, texts, strict=True)
    )
    commons = Commons(
        root="", index=Index(path=""), entries=entries, documents=documents, clusters=(), query_patterns=(),
        triggers=(), cases=(),
    )  # fmt: skip
    vocabulary = Vocabulary(commons, own=frozenset(THINGS))
    pairs = tuple(Pair(question=text, document=ident, signals={"opened": 1}) for text, ident in asked)
    evidence = Evidence(pairs=pairs)
    with IndexTrial(commons, vocabulary, probes_of(evidence, [], [])) as trial:
        return choose_reach(evidence, vocabulary, trial)


@pytest.mark.slow
def test_words_that_several_questions_for_a_document_share_are_taken() -> None:
    asked = [
        (f"{said} {one} {word}", one)
        for said, one in zip(SAID, THINGS, strict=True)
        for word in ("", "tomorrow", "yesterday", "quickly", "slowly")
    ]
    found = reached((text.replace(one, ""), one) for text, one in asked).reach
    assert found.known > 0


def test_words_of_questions_that_are_asked_once_each_are_left() -> None:
    asked = [(f"{said} {one}", one) for said, one in zip(SAID[1:], THINGS, strict=False)]
    assert reached(asked).reach.known == 0


def test_without_questions_the_least_is_taken() -> None:
    assert reached([]).reach == CAREFUL


def test_a_question_is_always_in_the_same_part_and_none_is_empty() -> None:
    parts = [part_of(f"question {number}") for number in range(200)]
    assert parts == [part_of(f"question {number}") for number in range(200)]
    assert set(parts) == set(range(PARTS))


def test_certainty_counts_standard_errors_over_the_same_questions() -> None:
    assert certainty({}) == 0.0
    assert certainty({1: 0.5, 2: 0.5, 3: 0.5, 4: 0.5}) == 2.0
    assert certainty({1: 0.5, 2: 0.5}, than={1: 0.5, 2: 0.5}) == 0.0
    assert certainty({1: -1.0}) == -1.0
