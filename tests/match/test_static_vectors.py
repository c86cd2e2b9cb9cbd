"""Tests of the static vectors: BERT's tokens, unit vectors, fast comparison, and no error for any text."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import deia
from deia.compile.catalog.vectors import stored_bytes
from deia.errors import ArtefactError
from deia.match import static_vectors as module
from deia.match.spelling import distance
from deia.match.static_vectors import (
    DIGEST_AT,
    FILE,
    HEADER,
    MOST_READ,
    WHOLE,
    Static,
    middle,
    one_edit_away,
    open_static,
    similarities,
    words,
)

MODELS = Path(deia.__file__).parent / "models"
STATIC = open_static()
# The output of the `tokenizers` library (0.23) for some texts, with the vocabulary of all-MiniLM-L6-v2.
TOKENISED = json.loads(Path(__file__).with_name("static_tokens.json").read_text("utf-8"))


@pytest.fixture(params=["plain", "numpy"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test as in a cold process, and as in one that has loaded numpy."""
    stored([0.0] * STATIC.dimensions)  # numpy imports parts of itself when they are first used
    if request.param == "plain":
        monkeypatch.delitem(sys.modules, "numpy")
    assert (module.loaded_numpy() is np) == (request.param == "numpy")
    return str(request.param)


def stored(vector: Sequence[float]) -> bytes:
    """Give a vector as a catalog keeps it."""
    return stored_bytes(STATIC, np.array([vector], "f4"))


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def same_topic(one: str, other: str, foreign: str) -> bool:
    vectors = [STATIC.encode(text) for text in (one, other, foreign)]
    return cosine(vectors[0], vectors[1]) > cosine(vectors[0], vectors[2])


@pytest.mark.parametrize(("text", "expected"), TOKENISED)
def test_words_are_split_into_the_same_pieces_as_by_bert(text: str, expected: str) -> None:
    rows = [STATIC.row(piece) for piece in expected.split() if piece != "[UNK]"]
    assert -1 not in rows
    assert [row for word in words(text) for row in STATIC.pieces(word)] == rows


def test_every_piece_has_its_own_number() -> None:
    stored_pieces = STATIC._data[STATIC._texts : STATIC._rows].split(b"\0")
    pieces = [piece.decode() for piece in stored_pieces if piece]
    assert len(pieces) == STATIC._tokens > 29_000
    assert [STATIC.row(piece) for piece in pieces] == list(range(len(pieces)))
    assert STATIC.row("no such piece") == STATIC.row("") == -1


def test_common_words_that_bert_splits_have_their_own_vector() -> None:
    assert STATIC.row("delete") == -1
    assert STATIC.rows("Delete!") == [STATIC.row(f"{WHOLE}delete"), STATIC.row("!")]
    assert -1 not in STATIC.rows("delete")


def test_a_prefix_in_a_text_does_not_select_a_whole_word_vector() -> None:
    assert STATIC.rows("=delete") == [STATIC.row("="), STATIC.row(f"{WHOLE}delete")]


def test_a_vector_has_unit_length(either_way: str) -> None:
    vector = STATIC.encode("drop the production database")
    assert len(vector) == STATIC.dimensions
    assert math.hypot(*vector) == pytest.approx(1)


def test_numpy_gives_the_same_vectors_to_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["drop the production database", "x", "naïve " * 300, ""]
    fast = [STATIC.encode(text) for text in texts]
    monkeypatch.delitem(sys.modules, "numpy")
    assert [STATIC.encode(text) for text in texts] == fast


@pytest.mark.parametrize("text", ["", " \n", "\x00", "\ud800", "\U0001f600", "y" * 101])
def test_a_text_without_known_tokens_is_a_zero_vector_that_matches_nothing(text: str, either_way: str) -> None:
    vector = STATIC.encode(text)
    assert vector == [0.0] * STATIC.dimensions
    codes = stored(vector)
    assert codes == bytes(STATIC.dimensions)
    known = STATIC.encode("drop the table")
    assert similarities(known, codes, STATIC.dimensions) == similarities(vector, codes, STATIC.dimensions) == [0.0]


def test_word_order_does_not_matter_and_repetition_does() -> None:
    assert STATIC.encode("table the drop") == pytest.approx(STATIC.encode("drop the table"))
    assert STATIC.encode("drop drop table") != pytest.approx(STATIC.encode("drop table"))


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    begun = "a b " * (MOST_READ // 4)
    assert STATIC.rows(begun + "database") == STATIC.rows(begun)


@pytest.mark.parametrize(
    ("one", "other", "foreign"),
    [
        ("delete the old site", "remove the website", "the meeting is at noon"),
        ("rotate the leaked API key", "replace the compromised credentials", "scale the deployment to three replicas"),
        ("git push --force to main", "overwrite the remote branch", "the certificate expires tomorrow"),
        ("no space left on device", "the disk is full", "permission denied (publickey)"),
    ],
)
def test_a_paraphrase_is_closer_than_another_topic(one: str, other: str, foreign: str) -> None:
    assert same_topic(one, other, foreign)


def test_stored_vectors_are_compared_as_whole_ones_are(either_way: str) -> None:
    texts = ["restore the backup", "drop the table", "renew the certificate", "drop the users table now"]
    codes = b"".join(stored(STATIC.encode(text)) for text in texts)
    vector = STATIC.encode("drop the table")
    exact = [cosine(vector, STATIC.encode(text)) for text in texts]
    assert similarities(vector, memoryview(codes), STATIC.dimensions) == pytest.approx(exact, abs=0.015)


def test_the_middle_ignores_zero_vectors() -> None:
    vectors = [STATIC.encode(text) for text in ("restore the backup", "drop the table")]
    codes = b"".join([stored(vectors[0]), bytes(STATIC.dimensions), stored(vectors[1])])
    mean = [(one + other) / 2 for one, other in zip(*vectors, strict=True)]
    assert middle(codes, STATIC.dimensions) == pytest.approx(mean, abs=0.003)
    assert middle(bytes(STATIC.dimensions), STATIC.dimensions) == middle(b"", STATIC.dimensions)
    assert not any(middle(b"", STATIC.dimensions))


def test_nothing_is_compared_with_no_stored_vectors(either_way: str) -> None:
    assert similarities(STATIC.encode("drop the table"), b"", STATIC.dimensions) == []


@given(some.lists(some.text(some.characters(codec=None), max_size=60), min_size=1, max_size=4), some.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_has_a_vector_and_can_be_compared(others: list[str], text: str) -> None:
    vector = STATIC.encode(text)
    assert math.hypot(*vector) == pytest.approx(1) or not any(vector)
    codes = b"".join(stored(STATIC.encode(other)) for other in others)
    assert len(cosines := similarities(vector, codes, STATIC.dimensions)) == len(others)
    assert all(-1 <= value <= 1 for value in cosines)


@given(some.binary(max_size=300), some.integers(0, 4000))
@settings(max_examples=100, deadline=None)
def test_a_damaged_header_is_an_error_or_still_answers(noise: bytes, place: int) -> None:
    whole = bytes(STATIC._data)
    damaged = whole[:place] + noise + whole[place + len(noise) :]
    try:
        opened = Static(damaged)
    except ArtefactError as error:
        assert error.fix  # noqa: PT017 - an error is one of two right outcomes
    else:
        for text in ("drop the production database", "a", "!"):
            assert all(-1 < row < opened._tokens for row in opened.rows(text))


@pytest.mark.parametrize("length", [0, 7, HEADER - 1, HEADER, 5000, -1])
def test_the_error_for_a_truncated_file_says_what_to_do(length: int, tmp_path: Path) -> None:
    torn = tmp_path / FILE
    torn.write_bytes((MODELS / FILE).read_bytes()[:length])
    with pytest.raises(ArtefactError, match="Install deia again"):
        open_static(str(torn))


@pytest.mark.parametrize("path", ["no/such/file", "with\0nul"])
def test_the_error_for_a_missing_file_says_what_to_do(path: str) -> None:
    with pytest.raises(ArtefactError, match="Install deia again"):
        open_static(path)


def test_the_shipped_file_is_intact_small_and_documented() -> None:
    provenance = json.loads((MODELS / "static.provenance.json").read_text("utf-8"))
    data = (MODELS / FILE).read_bytes()
    assert hashlib.sha256(data[:DIGEST_AT] + data[HEADER:]).hexdigest() == STATIC.digest
    assert (MODELS / FILE).stat().st_size < 9_000_000
    assert STATIC.dimensions == provenance["dimensions"]
    assert STATIC.name == f"static-minilm-{provenance['dimensions']}"
    assert STATIC.digest == provenance["digest"]
    assert all(text["licence"] for text in provenance["texts"])


def test_a_cold_process_loads_neither_numpy_nor_re() -> None:
    code = (
        "import sys; from deia.match.static_vectors import open_static, similarities; static = open_static();"
        "vector = static.encode('drop the database'); similarities(vector, static.codes()[:192], static.dimensions);"
        "print(*sorted({'numpy', 're', 'os', 'unicodedata', 'json', 'hashlib', 'struct'} & set(sys.modules)))"
    )
    root = str(MODELS.parent.parent)
    script = f"import sys; sys.path.insert(0, {root!r}); {code}"
    assert subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, check=True).stdout == b"\n"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("brigde", "bridge"), ("quesyions", "questions"), ("paclages", "packages"), ("zrro", "zero"), ("eveyr", "every")],
)
def test_a_misspelt_word_is_respelled_as_the_most_usual_known_one(typed: str, meant: str) -> None:
    assert STATIC.respelled(typed) == meant
    assert STATIC.respelled(typed) == meant  # also when asked again


@pytest.mark.parametrize("word", ["bridge", "shortest", "xqzvkw", ""])
def test_a_known_word_and_one_without_neighbours_are_not_respelled(word: str) -> None:
    assert STATIC.respelled(word) == ""


@given(some.text("abcxyz", max_size=9))
def test_words_one_edit_away_begin_alike_and_are_no_further(word: str) -> None:
    near = one_edit_away(word)
    assert len(near) == len(set(near))
    assert all(other[0] == word[0] and distance(word, other, 2) == 1 for other in near)
