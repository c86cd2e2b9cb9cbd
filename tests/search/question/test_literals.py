"""Tests of the asker's own words: which count as such, and that a document is not penalised for lacking them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.match.tokeniser import question_words
from deia.search.question.literals import literal_terms
from deia.search.question.terms import Question, Term
from deia.search.ranking.confidence import coverage


@pytest.mark.parametrize(
    ("text", "own", "subject"),
    [
        ('rename "holiday" to "beach"', {"holiday", "beach"}, "rename"),
        ("rename 'holiday' to 'beach'", {"holiday", "beach"}, "rename"),
        ("differences between /srv/one and /srv/two", {"one", "two"}, "differences"),
        ("download https://example.org/a through 10.1.2.3:8080", {"example", "8080"}, "download"),
        ("what does `frobnicate` mean", {"frobnicate"}, "mean"),
        ("list files with --reverse", {"reverse"}, "list"),
    ],
)
def test_quoted_words_paths_addresses_and_options_are_the_askers_own(text: str, own: set[str], subject: str) -> None:
    assert own <= literal_terms(text)
    assert subject not in literal_terms(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "what is E0308",
        "node.js heap out of memory",
        "SHA-256 checksum",
        "CVE-2024-3094 in xz",
        "I don't know the user's file, don't ask",
        '"dead site"',
        "/etc/fstab",
        "'",
        '""',
    ],
)
def test_names_apostrophes_and_quoted_queries_are_not_the_askers_own(text: str) -> None:
    assert not literal_terms(text)


def test_a_word_that_also_occurs_outside_the_quotation_is_not_the_askers_own() -> None:
    assert "zone" not in literal_terms('delete the zone "zone"')


def test_a_document_is_not_penalised_for_lacking_the_askers_own_words() -> None:
    text = 'rename "holiday"'
    query = Question(
        text=text,
        terms=(Term(typed="rename", stem="renam", information=3.0), Term(typed="holiday", stem="", information=6.0)),
    )
    own = literal_terms(text)
    assert coverage(query, {0: {"renam"}}, own=own) > 0.8
    assert coverage(query, {0: {"renam"}}) < 0.5
    assert coverage(query, {}, own=own) == 0.0


@given(st.text(alphabet="ab '\"`“”‘’/~$-.:1é\n", max_size=80))  # noqa: RUF001 - typographic marks
@settings(max_examples=100)
def test_any_text_gives_only_terms_of_its_own(text: str) -> None:
    every = {part for word in question_words(text) for part in word}
    joined = {part for word in question_words(text.translate(str.maketrans("\"'`“”‘’", "       "))) for part in word}  # noqa: RUF001 - likewise
    assert literal_terms(text) <= every | joined
