from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.match import tokeniser as module
from deia.match.keyword import analyser
from deia.match.tokeniser import LONGEST_TERM, distinct, fold, question_words, terms, words

ANY_TEXT = st.text(st.characters(), max_size=300)  # lone surrogates and NUL included


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("KubePodCrashLooping", ("kubepodcrashlooping", "kube", "pod", "crash", "looping")),
        ("HTTPServerError", ("httpservererror", "http", "server", "error")),
        ("max_retry_count", ("maxretrycount", "max", "retry", "count")),
        ("src/app/main.py", ("srcappmainpy", "src", "app", "main", "py")),
        ("sites:delete", ("sitesdelete", "sites", "delete")),
        ("OOMKilled", ("oomkilled", "oom", "killed")),
        ("ORA-00942", ("ora00942", "ora", "00942")),
        ("1.2.3", ("1.2.3", "1", "2", "3")),
        ("0x80070005", ("0x80070005",)),
        ("Zürich", ("zurich",)),
        ("\uff26\uff35\uff2c\uff2c", ("full",)),
        ("don't", ("dont",)),
        ("don\u2019t", ("dont",)),
    ],
)
def test_a_name_gives_its_whole_and_its_parts(text: str, wanted: tuple[str, ...]) -> None:
    assert words(text) == [wanted]


def test_three_spellings_of_a_name_meet() -> None:
    assert words("maxRetryCount") == words("max_retry_count") == words("max-retry-count")


def test_accents_meet_however_they_are_encoded() -> None:
    assert terms("caf\u00e9") == terms("cafe\u0301") == ["cafe"]


def test_scripts_without_spaces_are_cut_into_characters() -> None:
    assert terms("日本 設定") == ["日", "本", "設", "定"]


def test_a_question_loses_its_stop_words_and_its_repeats() -> None:
    assert distinct(question_words("How do I fix the the pod, and the pod?")) == ["fix", "pod"]


def test_a_question_of_stop_words_has_nothing_left() -> None:
    assert question_words("how do I?") == []


def test_emoji_and_punctuation_are_no_words() -> None:
    assert words("🔥 -- ... \x00 \ud800 :") == []


@given(ANY_TEXT)
@settings(max_examples=100)
def test_every_term_is_one_the_index_takes_as_it_is(text: str) -> None:
    found = terms(text)
    assert all(0 < len(term) <= LONGEST_TERM and term == term.strip() and " " not in term for term in found)
    assert len(analyser().analyze(" ".join(found))) == len(found)
    fold(text).encode()


@given(ANY_TEXT)
@settings(max_examples=50)
def test_the_terms_of_a_text_do_not_depend_on_what_was_read_before(text: str) -> None:
    first = words(text)
    module._WORDS.clear()
    assert words(text) == first


@pytest.mark.parametrize("piece", ["a\u0301\u0327", "\u0301", "aB", "a-", "\ud800", "日", "\ufdfa", "x" * 40 + "_"])
def test_a_large_text_takes_time_in_proportion(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    start = time.process_time()
    terms(text)
    assert time.process_time() - start < 2


def test_an_index_gives_one_stem_for_each_term() -> None:
    assert analyser().analyze("configurations looping 日") == ["configur", "loop", "日"]
