from __future__ import annotations

import hashlib
import json
import os
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deia
from deia.search.ranking.word_usage import DESCRIPTION, FILE, LEVELS, SEPARATOR, general_information

PLACE = os.path.join(os.path.dirname(deia.__file__), "models", FILE)


def rows() -> list[tuple[str, int]]:
    """Give the rows of the file as they stand there."""
    with open(PLACE, encoding="ascii") as file:
        found = [line.rstrip("\n").rpartition(SEPARATOR) for line in file]
    return [(stem, int(level)) for stem, _, level in found]


NONE = rows()[0][1] / LEVELS  # what a word tells that nobody uses


def test_every_stem_of_the_file_is_found_with_its_level() -> None:
    written = dict(rows())
    assert len(written) == len(rows()) > 10_000
    assert general_information(written) == {stem: level / LEVELS for stem, level in written.items()}


def test_the_file_is_what_is_said_of_it() -> None:
    with open(PLACE, "rb") as file, open(PLACE.replace(".txt", ".provenance.json"), encoding="utf-8") as about:
        data, said = file.read(), json.load(about)
    assert hashlib.sha256(data).hexdigest() == said["sha256"]
    assert (data.count(b"\n") - 1, DESCRIPTION) == (said["words"], said["bytes"])


def test_a_word_that_everybody_uses_tells_less_than_one_of_few_and_one_of_nobody_most() -> None:
    found = general_information(["file", "kubernet", "xyzzyplugh"])
    assert found["file"] < found["kubernet"] < found["xyzzyplugh"]
    assert found["xyzzyplugh"] == NONE


def test_in_longer_passages_a_word_tells_less() -> None:
    short, long = (general_information(["backup"], length=factor * DESCRIPTION)["backup"] for factor in (1, 2))
    assert short - long == pytest.approx(log(2))


@settings(max_examples=100)
@given(st.lists(st.text(max_size=40)))
def test_any_text_has_a_level_between_the_most_frequent_and_none(stems: list[str]) -> None:
    found = general_information(stems)
    assert set(found) == set(stems)
    assert all(0 < level <= NONE for level in found.values())
