"""Chunkers that are drafted from samples."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deia.ingest.custom.declared import LIMIT, cut_declared, parsed, written
from deia.ingest.custom.drafting import drafted, figures
from deia.ingest.reading import ChunkerConfig, Reading

WORDS = "valve pump pressure seal rotor bearing oil check torque flange".split()


def reading(text: str) -> Reading:
    return Reading(type="text", title="manual", text=text, path="a.pmp")


def words(count: int) -> str:
    return " ".join(itertools.islice(itertools.cycle(WORDS), count % 7, count % 7 + count))


SAMPLES = {
    "named records": ("".join(f"PUMP P-{n}\nbuilt: {1990 + n}\n{words(30 + n)}\n\n" for n in range(20)), "PUMP P-"),
    "marks": ("".join(f"@pump{{p{n},\n  text = {{{words(40)}}}\n}}\n" for n in range(15)), "@pump"),
    "numbers": ("".join(f"{n + 100}. {words(40)}\n  {words(9)}\n" for n in range(15)), ""),
    "cards": ("".join(f"BEGIN:CARD\nNAME:{n}\n{words(40)}\nEND:CARD\n" for n in range(15)), "BEGIN:CARD"),
    "rules": ("\n-----\n".join(words(50 + n) for n in range(12)), ""),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_records_that_repeat_themselves_are_found(name: str) -> None:
    text, beginning = SAMPLES[name]
    count = len(text.split("-----")) if name == "rules" else {"named records": 20}.get(name, 15)
    chunks = cut_declared(drafted([reading(text)]).but(share=False), reading(text), "a", ChunkerConfig())
    assert len(chunks) == count
    assert all(chunk.text.startswith(beginning) for chunk in chunks)


def test_what_is_too_long_gets_another_level() -> None:
    section = "".join(f"* section {n}\n{words(60)}\n" for n in range(8))
    text = "".join(f"Chapter {n}\n{words(5)}\n{section}\n" for n in range(6))
    draft = drafted([reading(text)])
    chunks = cut_declared(draft, reading(text), "a", ChunkerConfig())
    assert max(len(chunk.text) for chunk in chunks) < LIMIT
    assert sum("* section" in chunk.text for chunk in chunks) == 48


def test_records_in_braces_are_found_although_their_fields_are_more_and_of_a_better_length() -> None:
    fields = "".join(f"  field{n} = {words(30)}\n" for n in range(30))
    text = "".join(f"REC {n:04} {{\n{fields}}}\n" for n in range(12))
    draft = drafted([reading(text)])
    assert [(level.begins, level.kind) for level in draft.levels] == [("REC", "record"), ("  field", "part")]
    chunks = cut_declared(draft, reading(text), "a", ChunkerConfig())
    assert all(chunk.text.count("REC ") <= 1 for chunk in chunks)
    small = "".join(f"REC {n:04} {{\n  name = {words(3)}\n}}\n" for n in range(12))
    assert [level.begins for level in drafted([reading(small)]).levels] == ["REC"]


def test_figures_say_how_many_how_long_what_is_left_out_and_what_is_repeated() -> None:
    text, declared = "aaaa\n" * 10, parsed("separator = '-'")
    chunks = cut_declared(declared, reading(text), "a", ChunkerConfig(max_chars=40))
    told = figures(reading(text), chunks)
    assert told == "2 chunks of 9 to 39 characters, 24 in the middle; 100.0% of the text covered, 0.0% repeated"
    assert "20.0% of the text covered" in figures(reading(text), chunks[1:])
    overlapping = cut_declared(declared, reading(text), "a", ChunkerConfig(max_chars=40, overlap_chars=20))
    assert " 0.0% repeated" not in figures(reading(text), overlapping)


@given(st.lists(st.text(max_size=200), max_size=3))
@example(["\x7f000"] * 3)  # DEL, which TOML refuses as it stands
def test_any_samples_give_a_chunker_that_can_be_written_and_read(texts: list[str]) -> None:
    draft = drafted([reading(text) for text in texts], globs=("*.x",))
    assert parsed(written(draft)) == draft
