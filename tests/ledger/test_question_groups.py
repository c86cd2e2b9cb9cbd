"""Questions about one thing come into one group, with scikit-learn and without it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.ledger.question_groups import PACKAGE, group_by_meaning, group_by_words, group_questions, weigh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Groups = Callable[[Sequence[str]], list[list[int]]]

TOPICS = ("tls certificate renewal", "helm chart upgrade", "postgres vacuum bloat", "webhook signature retries")
ENDS = ("fails", "on staging", "takes forever", "again", "how")
QUESTIONS = [f"{topic} {words}" for topic in TOPICS for words in ENDS]


def by_words(questions: Sequence[str]) -> list[list[int]]:
    return group_by_words(weigh(questions))


def by_meaning(questions: Sequence[str]) -> list[list[int]]:
    pytest.importorskip(PACKAGE)
    return group_by_meaning(questions, weigh(questions))


@pytest.mark.parametrize("group", [by_words, by_meaning])
def test_questions_are_grouped_as_they_are_meant(group: Groups) -> None:
    assert sorted(map(sorted, group(QUESTIONS))) == [list(range(at, at + 5)) for at in range(0, 20, 5)]


def test_other_words_for_one_thing_come_into_one_group_by_meaning() -> None:
    asked = [*QUESTIONS, "delete a file", "remove files from disk"]
    assert [20, 21] in map(sorted, by_meaning(asked))
    assert [20, 21] not in map(sorted, by_words(asked))


def test_the_order_in_which_they_were_asked_changes_no_group_by_meaning() -> None:
    asked = [*QUESTIONS, "delete a file", "remove files from disk"]
    groups = {frozenset(asked[at] for at in group) for group in by_meaning(asked)}
    turned = asked[::-1]
    assert {frozenset(turned[at] for at in group) for group in by_meaning(turned)} == groups


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=8))
def test_every_question_comes_into_exactly_one_group(texts: list[str]) -> None:
    weights = weigh(texts)
    worded = [text for text, vector in zip(texts, weights, strict=True) if vector]
    groups = group_questions(worded, [vector for vector in weights if vector])
    assert sorted(at for group in groups for at in group) == list(range(len(worded)))


def test_without_scikit_learn_words_alone_group() -> None:
    script = (
        "import sys, importlib.util as util\n"
        "found = util.find_spec\n"
        f"util.find_spec = lambda name, *rest: None if name == {PACKAGE!r} else found(name, *rest)\n"
        "from deia.ledger.question_groups import group_questions, weigh\n"
        "texts = ['tls certificate expired', 'renew the tls certificate', 'helm upgrade stuck']\n"
        "print(group_questions(texts, weigh(texts)), 'sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[[0, 1], [2]] False\n"
