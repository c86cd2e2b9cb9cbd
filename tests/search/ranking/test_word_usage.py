from __future__ import annotations

import hashlib
import json
import os
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deia
from deia.search.ranking.weights import DESCRIPTION, LEVELS, SEPARATOR, USUAL_WORDS, general_information

PLACE = os.path.join(os.path.dirname(deia.__file__), "models", USUAL_WORDS)


def rows() -> list[tuple[str, int]]:
    """Return the rows of the file in order."""
    with open(PLACE, encoding="ascii") as file:
        levels = [line.rstrip("\n").rpartition(SEPARATOR) for line in file]
    return [(stem, int(level)) for stem, _, level in levels]


NONE = rows()[0][1] / LEVELS  # the information of a word that is not in the file


def test_every_stem_in_the_file_has_its_level() -> None:
    written = dict(rows())
    assert len(written) == len(rows()) > 10_000
    assert general_information(written) == {stem: level / LEVELS for stem, level in written.items()}


def test_the_file_matches_its_provenance() -> None:
    with open(PLACE, "rb") as file, open(PLACE.replace(".txt", ".provenance.json"), encoding="utf-8") as about:
        data, provenance = file.read(), json.load(about)
    assert hashlib.sha256(data).hexdigest() == provenance["sha256"]
    assert (data.count(b"\n") - 1, DESCRIPTION) == (provenance["words"], provenance["bytes"])


def test_rarer_words_are_more_informative() -> None:
    levels = general_information(["file", "kubernet", "xyzzyplugh"])
    assert levels["file"] < levels["kubernet"] < levels["xyzzyplugh"]
    assert levels["xyzzyplugh"] == NONE


def test_words_are_less_informative_in_longer_passages() -> None:
    short, long = (general_information(["backup"], length=factor * DESCRIPTION)["backup"] for factor in (1, 2))
    assert short - long == pytest.approx(log(2))


@settings(max_examples=100)
@given(st.lists(st.text(max_size=40)))
def test_any_text_has_a_level_within_the_range(stems: list[str]) -> None:
    levels = general_information(stems)
    assert set(levels) == set(stems)
    assert all(0 < level <= NONE for level in levels.values())
