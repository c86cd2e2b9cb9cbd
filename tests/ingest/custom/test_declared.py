"""Chunkers that are declared in TOML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.custom.declared import Declared, Level, cut_declared, parsed, written
from deia.ingest.reading import ChunkerConfig, Reading, ReadingError

PUMPS = Declared(levels=(Level(begins=r"PUMP (\S{1,20})", kind="pump"), Level(begins="part", kind="part")))
TEXT = "About pumps\nPUMP P-1\nred\npart a\nscrew\npart b\nnut\n\nPUMP P-2\nblue\n"
PLAIN = ChunkerConfig()


def reading(text: str) -> Reading:
    return Reading(type="text", title="manual", text=text, path="a.pmp")


def test_a_part_begins_at_its_line_and_has_the_name_that_its_pattern_finds() -> None:
    chunks = cut_declared(PUMPS, reading(TEXT), "a", PLAIN)
    assert [(chunk.kind, chunk.symbol, chunk.lines) for chunk in chunks] == [
        ("", "", (1, 1)), ("pump", "P-1", (2, 7)), ("pump", "P-2", (9, 10)),
    ]  # fmt: skip


def test_what_is_too_long_is_cut_at_the_next_level() -> None:
    chunks = cut_declared(PUMPS, reading(TEXT.replace("screw", "screw " * 20)), "a", ChunkerConfig(max_chars=150))
    assert [(chunk.kind, chunk.symbol, chunk.level) for chunk in chunks][1:4] == [
        ("pump", "P-1", 0), ("part", "part a", 1), ("part", "part b", 1),
    ]  # fmt: skip


def test_records_between_separators_have_levels_inside() -> None:
    declared = Declared(separator="---", levels=(Level(begins="part", kind="part"),), max_chars=50)
    text = "one " * 8 + "\npart a\n" + "two " * 8 + "\n---\nlast\n"
    kinds = [(chunk.kind, chunk.text[:6]) for chunk in cut_declared(declared, reading(text), "a", PLAIN)]
    assert kinds == [("record", "one on"), ("part", "part a"), ("record", "last")]


def test_small_neighbours_share_a_chunk_if_that_is_declared() -> None:
    text = "".join(f"PUMP P-{number}\n" for number in range(10))
    assert len(cut_declared(PUMPS, reading(text), "a", PLAIN)) == 10
    assert len(cut_declared(PUMPS.but(share=True), reading(text), "a", PLAIN)) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "are needed"),
        ("separator = '(a+)+$'", "unbounded repeat"),
        ("separator = '('", "does not parse"),
        ("separator = 1", "is no str"),
        ("levels = [1]", "Level"),
        ("levels = [{kind = 'x'}]", "needs begins"),
        ("separator = '-'\nmax_chars = 3", "max_chars of 40"),
        ("separator = '-'\nfiles = [1]", "is no str"),
        ("[[levels]]\nbegins = 'x'\n" * 7, "1 to 6 levels"),
        ("a = [" + "[" * 5000, "declares no chunker"),
        ("\x00", "declares no chunker"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(text: str, why: str) -> None:
    with pytest.raises(ReadingError, match=why):
        parsed(text)


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ('files = "*.q"', 'files is "*.q", which is no array', 'Write it as an array, such as files = ["*.q"]'),
        ("files = 2026-01-31", 'files is "2026-01-31", which', 'such as files = ["*.q"]'),
        ("[levels]\nbegins = 'PUMP'", 'levels is {"begins": "PUMP"}, which', "Write each level below [[levels]]"),
    ],
)
def test_what_should_be_an_array_is_refused_in_the_words_of_toml(text: str, problem: str, fix: str) -> None:
    with pytest.raises(ReadingError) as error:
        parsed(text, where="/srv/q.toml")
    assert problem in error.value.message
    assert fix in error.value.fix
    assert error.value.where == "/srv/q.toml"


@given(st.text())
def test_whatever_is_declared_is_a_chunker_or_refused(text: str) -> None:
    for toml in (text, f"separator = '{text}'", f'[[levels]]\nbegins = "{text}"'):
        try:
            declared = parsed(toml)
        except ReadingError:
            continue
        assert parsed(written(declared)) == declared


@given(
    st.lists(st.sampled_from(["PUMP P-1", "part", "---", "word", "", "  ", "é"])), st.booleans(), st.integers(40, 90)
)
def test_no_word_is_lost(lines: list[str], share: bool, limit: int) -> None:  # noqa: FBT001 - hypothesis's
    text = "\n".join(lines)
    for separator in ("", "---"):
        declared = PUMPS.but(separator=separator, share=share, max_chars=limit)
        chunks = cut_declared(declared, reading(text), "a", PLAIN)
        kept = " ".join(chunk.text for chunk in chunks).split()
        assert [word for word in kept if word != "---"] == [word for word in text.split() if word != "---"]
