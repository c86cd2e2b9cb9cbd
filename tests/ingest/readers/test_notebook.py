from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.read import read
from deia.ingest.reading import ReadingError

BOOK = {
    "metadata": {"language_info": {"name": "python"}},
    "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "Words."]},
        {"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"]}}]},
    ],
}
NAMES = st.sampled_from("cells metadata language_info source outputs cell_type data text name ename evalue".split())
VALUES = st.recursive(
    st.none() | st.integers() | st.sampled_from(["code", "markdown"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
)


def test_texts_stay_and_code_and_what_it_printed_are_fenced() -> None:
    reading = read("a.ipynb", json.dumps(BOOK).encode())
    assert (reading.type, reading.title, reading.language) == ("notebook", "Title", "python")
    assert reading.text == "# Title\n\nWords.\n\n```\n1 + 1\n```\n\n```\n2\n```"


def test_what_went_wrong_in_a_cell_is_kept() -> None:
    error = {"output_type": "error", "ename": "ValueError", "evalue": "too hot", "traceback": ["\x1b[31mlong"]}
    silent = {"output_type": "error", "traceback": []}
    book = {"cells": [{"cell_type": "code", "source": "fire()", "outputs": [error, silent]}]}
    assert read("a.ipynb", json.dumps(book).encode()).text == "```\nfire()\n```\n\n```\nValueError: too hot\n```"


def test_what_is_no_notebook_is_refused() -> None:
    with pytest.raises(ReadingError, match="no cells"):
        read("a.ipynb", b'{"worksheets": []}')
    with pytest.raises(ReadingError, match="no whole JSON"):
        read("a.ipynb", b"[" * 100_000)


@given(VALUES)
def test_any_json_is_read_or_refused(value: object) -> None:
    with suppress(ReadingError):
        read("a.ipynb", json.dumps({"cells": value} if isinstance(value, list) else value).encode())
