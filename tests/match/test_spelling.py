from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.compile.catalog.writers import vocabulary_bytes
from deia.errors import ArtefactError
from deia.match.spelling import SHORT, Vocabulary, deletions, distance, edits_allowed, worth_keeping

COUNTS = {"directory": 9, "recursively": 4, "fields": 2, "files": 7, "pod": 5, "kubernetes": 3, "configuration": 6}
LETTERS = st.text("abcde", min_size=1, max_size=10)


def opened(tmp_path: Path, counts: dict[str, int]) -> Vocabulary:
    path = tmp_path / "words.bin"
    path.write_bytes(vocabulary_bytes(counts))
    return Vocabulary(str(path))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("direcotry", "directory"), ("fiels", "files"), ("kuberntes", "kubernetes"), ("confguratoin", "configuration")],
)
def test_a_misspelt_word_is_corrected(tmp_path: Path, typed: str, meant: str) -> None:
    assert opened(tmp_path, COUNTS).corrections(typed)[0] == meant


@pytest.mark.parametrize("typed", ["pdo", "teh", "zzzzzzzz", "x" * 10_000, ""])
def test_short_strange_and_huge_words_are_not_corrected(tmp_path: Path, typed: str) -> None:
    assert opened(tmp_path, COUNTS).corrections(typed) == []


def test_the_more_frequent_of_two_equally_near_words_wins(tmp_path: Path) -> None:
    assert opened(tmp_path, {"cart": 1, "card": 5}).corrections("carx") == ["card", "cart"]


def test_words_one_edit_away_hide_those_two_edits_away(tmp_path: Path) -> None:
    assert opened(tmp_path, {"starting": 1, "starring": 99}).corrections("startimg") == ["starting"]


def test_longer_words_allow_more_edits() -> None:
    assert [edits_allowed(length) for length in (1, 3, 4, 7, 8, 20)] == [0, 0, 1, 1, 2, 2]


def test_words_and_counts_round_trip(tmp_path: Path) -> None:
    vocabulary = opened(tmp_path, COUNTS)
    assert dict(vocabulary.words()) == COUNTS
    assert vocabulary.count("files") == 7
    assert vocabulary.count("file") == 0


def test_the_same_words_give_the_same_bytes_in_any_order() -> None:
    assert vocabulary_bytes(COUNTS) == vocabulary_bytes(dict(reversed(COUNTS.items())))


def test_an_empty_vocabulary_corrects_nothing(tmp_path: Path) -> None:
    assert opened(tmp_path, {}).corrections("anything") == []


@pytest.mark.parametrize(
    "data", [b"", b"short", b"\0" * 400, vocabulary_bytes(COUNTS)[:-20], vocabulary_bytes(COUNTS)[:90]]
)
def test_a_truncated_vocabulary_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "words.bin"
    path.write_bytes(data)
    with pytest.raises(ArtefactError, match="deia compile"):
        Vocabulary(str(path))


def test_a_missing_vocabulary_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError):
        Vocabulary(str(tmp_path / "none"))


def plain_distance(left: str, right: str) -> int:
    """Return the distance by the textbook table, without shortcuts."""
    rows = [[max(i, j) if min(i, j) == 0 else 0 for j in range(len(right) + 1)] for i in range(len(left) + 1)]
    for i in range(1, len(left) + 1):
        for j in range(1, len(right) + 1):
            same = left[i - 1] == right[j - 1]
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (not same))
            if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@given(LETTERS, LETTERS, st.integers(1, 3))
@settings(max_examples=100)
def test_the_bounded_distance_agrees_with_the_plain_one(left: str, right: str, most: int) -> None:
    assert distance(left, right, most) == min(plain_distance(left, right), most + 1)


@given(
    st.sets(st.text("abcde", min_size=3, max_size=10), min_size=1, max_size=12),
    st.text("abcde", min_size=4, max_size=10),
)
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_index_agrees_with_an_exhaustive_comparison(tmp_path: Path, known: set[str], typed: str) -> None:
    vocabulary = opened(tmp_path, dict.fromkeys(known, 1))
    allowed = edits_allowed(len(typed))
    near = {word: far for word in known if 0 < (far := plain_distance(typed, word)) <= allowed}
    if len(typed) <= SHORT:
        near = {word: far for word, far in near.items() if word[0] == typed[0]}
    wanted = {word for word, far in near.items() if far == min(near.values())}
    assert set(vocabulary.corrections(typed)) - {typed} == wanted - {typed} or typed in known


def test_deletions_never_leave_an_empty_string() -> None:
    assert deletions("ab", 2) == {"ab", "a", "b"}


def test_numbers_and_fragments_are_not_in_the_vocabulary() -> None:
    assert [worth_keeping(word) for word in ("pod", "ab", "err42", "x" * 40)] == [True, False, False, False]


def test_corrections_keep_the_first_letter_of_short_words_and_prefer_it_in_long_ones(tmp_path: Path) -> None:
    vocabulary = opened(tmp_path, {"take": 9, "bare": 1, "sighting": 50, "fighters": 1})
    assert vocabulary.corrections("bake") == ["bare"]
    assert vocabulary.corrections("fighting") == ["sighting"]
    assert vocabulary.corrections("fightens") == ["fighters"]
