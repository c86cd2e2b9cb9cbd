"""Compiled patterns: the words that they require, and code that matches what `re` matches."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.triggers.compiled_patterns import FLAGS, compiled_pattern, required_groups
from deia.text import words
from deia.watch.compiled_trigger import CompiledPattern
from deia.watch.turn import regex
from deia.watch.turn.regex import MAKER

PATTERNS = (
    r"\bnuclear option\b",
    r"delete (the )?(site|shop)s?\b",
    r"(?:drop|truncate)\s+table",
    r"^rm -rf",
    r"v\d+\.\d+ ?(beta|rc)?$",
    r"[a-c]+x{1,3}",
    r"(?i:STOP) now",
    r"(?=.{0,5}go) \w+",
    r"a.{0,9}b",
    r"https?://[^ ]{1,20}",
    r"\bé\w*",
    r"(?P<what>db):reset",
)
WORDS = "nuclear option delete the site shops drop table rm -rf v1.2 rc axx STOP now go b db:reset . DELETE http://a".split()
TEXTS = st.lists(st.sampled_from((*WORDS, "\n", "\u00e9t\u00e9")), max_size=8).map(" ".join)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget every pattern that was made ready before."""
    monkeypatch.setattr(regex, "_compiled", {})
    monkeypatch.setattr(regex, "_made_here", [False])


def found(pattern: str, text: str, *, maker: list[Any]) -> list[tuple[int, int]]:
    regex._compiled.clear()
    regex.trust(maker)
    return list(regex.find(compiled_pattern(pattern), text))


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=25, deadline=None)
@given(text=st.one_of(TEXTS, st.text(max_size=40)))
def test_revived_code_finds_what_plain_re_finds(pattern: str, text: str) -> None:
    plain = [match.span() for match in re.compile(pattern, FLAGS).finditer(text)]
    assert found(pattern, text, maker=MAKER) == plain
    assert found(pattern, text, maker=["cpython-999", 0, 0, "little"]) == plain


def test_code_of_another_interpreter_is_never_run(fresh: None) -> None:
    regex.trust(["cpython-999", 0, 0, "little"])
    poison = CompiledPattern(source="stop", flags=FLAGS, code=[255, 255, 255], groups=0)
    assert list(regex.find(poison, "do stop")) == [(3, 7)]


def test_the_maker_names_this_interpreter() -> None:
    assert MAKER == regex.MAKER


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [
        (r"\bnuclear option\b", [{"nuclear"}, {"option"}]),
        (r"(?:drop|truncate) table", []),
        (r"(?:drop|truncate) table\b", [{"table"}]),
        (r"(?:\bdrop\b|\btruncate\b)", [{"drop", "truncate"}]),
        (r"(?:\bdrop\b|)", []),
        (r"nuclear", []),  # a part of a longer word matches too
        (r"\bnuclear", []),
        (r"a b c", [{"b"}]),
        (r"\bdrop\s+table\b", [{"drop"}, {"table"}]),
        (r"\b(drop) (now)?\b", [{"drop"}]),
        (r"\b(?:drop ){2,3}\b", [{"drop"}]),
        (r"\bx*\b", []),
        (r"\bterraform\b.{0,20}\bdestroy\b", [{"terraform"}, {"destroy"}]),
        (r"\bcommit (?:it |this )?without (?:the )?hooks\b", [{"commit"}, {"without"}, {"hooks"}]),
        (r"\bsell (?:x)?shop\b", [{"sell"}]),
        (r"\bsell(?: it)?shop\b", []),
        ("删除[^\n]{0,4}(?:仓库|表格)x", [{"仓", "表"}, {"删"}, {"除"}]),  # each letter counts as a word
    ],
)
def test_the_words_that_must_be_there_are_known(pattern: str, groups: list[set[str]]) -> None:
    assert [set(group) for group in required_groups(pattern)] == groups


PIECES = (
    r"\b", " ", "delete", "shop", "-", r"\s", r"\s+", r"\w", ".", "s?", "(a|bc)", "(?:drop|wipe)", "(?:x|)", "[ab]",
    r"\bnow\b", r"\b(?:drop|cut)\b", r"\b(now|then) ", "(?i:Up)", "é", r"(?:two )+", "(one two)", r"\W", "$", "^",
    "(?=go)", "_", "(?:a b){1,2}", "删除", "(?:仓库|表格)",
)  # fmt: skip
piece = st.sampled_from(PIECES)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(piece, min_size=1, max_size=6).map("".join), st.data())
def test_every_match_holds_a_word_of_each_group(pattern: str, data: st.DataObject) -> None:
    compiled = re.compile(pattern, FLAGS)
    groups = required_groups(pattern)
    middle = data.draw(st.from_regex(compiled, fullmatch=True).filter(lambda text: len(text) < 200))
    text = (
        data.draw(st.sampled_from(("", "x", " ", "-", "é", "\n")))
        + middle
        + data.draw(st.sampled_from(("", "x", " ", "_", "9")))
    )
    if compiled.search(text):
        present = set(words(text))
        assert all(group & present for group in groups), (pattern, text, groups)
