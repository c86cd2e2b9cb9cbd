"""Ids and file names are made of Latin letters, whatever a title is written in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.commons.source_files.slugs import LONGEST, slug


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Ünïcødé — Bienen", "unicode-bienen"),
        ("Łódź: Straße gesperrt", "lodz-strasse-gesperrt"),
        ("STRASSE, ẞ und Øl", "strasse-ss-und-ol"),
        ("Ægir, Þór, Đà Nẵng, cœur, ħobż, \u0131s\u0131", "aegir-thor-da-nang-coeur-hobz-isi"),
        ("Ǿ", "o"),
        ("How do I", "how-do-i"),
    ],
)
def test_a_letter_that_is_no_ascii_becomes_the_usual_latin_ones(title: str, name: str) -> None:
    assert slug(title) == name


@given(st.text())
def test_any_title_gives_a_name_that_is_its_own_name(title: str) -> None:
    name = slug(title)
    assert name.isascii()
    assert 0 < len(name) <= LONGEST
    assert slug(name) == name
