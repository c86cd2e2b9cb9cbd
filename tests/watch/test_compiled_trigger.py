"""Compiled triggers: the tables of words that acts know."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deia.watch.compiled_trigger import WordTable

TEXTS = st.dictionaries(st.text("abc ", min_size=1, max_size=4), st.text("xyz", min_size=1, max_size=3), max_size=20)


@given(TEXTS)
def test_a_table_of_words_holds_what_a_dictionary_does(texts: dict[str, str]) -> None:
    table = WordTable(WordTable.of(texts).parts)
    assert table.texts() == texts == dict(table)
    assert len(table) == len(texts)
    assert [table.get(word) for word in texts] == list(texts.values())
    assert "abcab" not in table
    assert table.get("bcabc", "none") == "none"
