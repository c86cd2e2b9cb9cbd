from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog.writers import vocabulary_bytes
from deia.match.spelling import Vocabulary, deletions, slot

if TYPE_CHECKING:
    from pathlib import Path

WORDS = st.text(alphabet="abcé中z", min_size=1, max_size=12)


@given(st.dictionaries(WORDS, st.integers(1, 9), min_size=1, max_size=40))
@settings(max_examples=60)
def test_every_deletion_of_every_word_is_stored_once(counts: dict[str, int]) -> None:
    words, data = sorted(counts), memoryview(vocabulary_bytes(counts))
    bits, entries = data[12:20].cast("I")
    at = 4 * (6 + (1 << bits) + 1)
    numbers, tags = data[at : at + 4 * entries].cast("I"), data[at + 4 * entries : at + 8 * entries].cast("I")
    wanted = [
        (slot(left) & 0xFFFFFFFF, number)
        for number, word in enumerate(words)
        for left in deletions(word, 1 if len(word) <= 5 else 2)
    ]
    assert sorted(zip(tags, numbers, strict=True)) == sorted(wanted)


def test_a_word_of_any_script_is_found_again(tmp_path: Path) -> None:
    words = {"restart": 3, "größe": 1, "日本語": 2, "ab": 4, "a": 1, "kubernetes": 9}
    path = tmp_path / "words.bin"
    path.write_bytes(vocabulary_bytes(words))
    vocabulary = Vocabulary(str(path))
    assert {word: vocabulary.count(word) for word in words} == words
    assert vocabulary.corrections("restrat") == ["restart"]
    assert vocabulary.corrections("kubernetse") == ["kubernetes"]
