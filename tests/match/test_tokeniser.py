from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.match import tokeniser as module
from deia.match.keyword import analyser
from deia.match.tokeniser import LONGEST_TERM, distinct, fold, is_in_another_script, question_words, terms, words

ANY_TEXT = st.text(st.characters(), max_size=300)  # including lone surrogates and NUL


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
def test_a_name_has_itself_and_its_parts_as_terms(text: str, wanted: tuple[str, ...]) -> None:
    assert words(text) == [wanted]


def test_three_spellings_of_a_name_share_a_term() -> None:
    assert words("maxRetryCount") == words("max_retry_count") == words("max-retry-count")


def test_accents_are_folded_in_every_encoding() -> None:
    assert terms("caf\u00e9") == terms("cafe\u0301") == ["cafe"]


def test_scripts_without_spaces_are_split_into_characters() -> None:
    assert terms("日本 設定") == ["日", "本", "設", "定"]


def test_a_query_drops_stop_words_and_repeats() -> None:
    assert distinct(question_words("How do I fix the the pod, and the pod?")) == ["fix", "pod"]


def test_a_query_of_stop_words_is_empty() -> None:
    assert question_words("how do I?") == []


def test_emoji_and_punctuation_are_not_words() -> None:
    assert words("🔥 -- ... \x00 \ud800 :") == []


@given(ANY_TEXT)
@settings(max_examples=100)
def test_the_index_keeps_every_term_whole(text: str) -> None:
    split = terms(text)
    assert all(0 < len(term) <= LONGEST_TERM and term == term.strip() and " " not in term for term in split)
    assert len(analyser().analyze(" ".join(split))) == len(split)
    fold(text).encode()


@given(ANY_TEXT)
@settings(max_examples=50)
def test_terms_do_not_depend_on_earlier_texts(text: str) -> None:
    first = words(text)
    module._WORDS.clear()
    assert words(text) == first


@pytest.mark.parametrize("piece", ["a\u0301\u0327", "\u0301", "aB", "a-", "\ud800", "日", "\ufdfa", "x" * 40 + "_"])
def test_time_is_linear_in_the_length_of_a_text(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    start = time.process_time()
    terms(text)
    assert time.process_time() - start < 2


def test_every_term_has_exactly_one_stem() -> None:
    assert analyser().analyze("configurations looping 日") == ["configur", "loop", "日"]


@pytest.mark.parametrize(
    "text", ["压力表超过八巴怎么办", "Как заменить подшипник", "ポンプの起動", "nginx 压力表超过八巴怎么办"]
)
def test_a_question_is_in_another_script_if_most_of_its_letters_are(text: str) -> None:
    assert is_in_another_script(text)


@pytest.mark.parametrize(
    "text", ["", "42 - 17 €", "où est la clé", "Đặt lại mật khẩu", "the λ of a pump", "重启 nginx"]
)
def test_accents_digits_and_a_few_letters_make_no_other_script(text: str) -> None:
    assert not is_in_another_script(text)
