"""Stances in other languages: denials, requests put as questions, questions, and what is over.

Each language is one table of words or letters, and `foreign_stance` is asked before the English rules. It has no
opinion about an English sentence or one in an unknown language: then the English rules decide alone. In a known
language only denials, questions, conditions and the past are recognised; everything else counts as announced.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.tables import Tables
from deia.text import words
from deia.watch.prose.stance_names import ANNOUNCED, ASKED, NEGATED, REPORTED, REQUESTED

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS_BEFORE = 6  # words before the act that can deny it
WORDS_AFTER = 6  # words after it that can
NEAR_LETTERS = 8  # the same before the act, in a script without spaces
FEWEST_WORDS = 2  # small words that it takes to recognise a language; one if the act has a letter that English lacks
TABLES = Tables(__file__)
CONDITIONS = TABLES.words("conditions")
COMPARING = TABLES.words("comparing")
THAN = TABLES.words("than")
SMALL = TABLES.words("small")
ENGLISH = TABLES.words("english")


class Language(Record):
    """The words by which a language that separates words is recognised, and those that set an act's stance."""

    marks: frozenset[str]  # frequent small words, by which the language is recognised
    denials: frozenset[str]  # before the act
    denials_after: frozenset[str] = frozenset()  # denials after the act
    requests: frozenset[str] = frozenset()  # first words of a question that asks for the act
    questions: frozenset[str] = frozenset()  # first words of a question about the act, with or without a question mark
    past: frozenset[str] = frozenset()  # words before the act that put it into the past


class Letters(Record):
    """The same for a script without spaces, as runs of letters."""

    denials: tuple[str, ...]  # shortly before the act
    denials_after: tuple[str, ...] = ()  # anywhere from the act on
    requests: tuple[str, ...] = ()  # anywhere in a question
    questions: tuple[str, ...] = ()  # anywhere
    past: tuple[str, ...] = ()  # shortly before the act
    past_after: tuple[str, ...] = ()  # anywhere from the act on


def _language(lists: dict[str, tuple[str, ...]]) -> Language:
    return Language(**{field: frozenset(listed) for field, listed in lists.items()})


SPACED = {
    "es": _language(TABLES.lists("es")),
    "pt": _language(TABLES.lists("pt")),
    "fr": _language(TABLES.lists("fr")),
    "de": _language(TABLES.lists("de")),
    "it": _language(TABLES.lists("it")),
    "ru": _language(TABLES.lists("ru")),
}
UNSPACED = {
    "zh": Letters(**TABLES.lists("zh")),
    "ja": Letters(**TABLES.lists("ja")),
    "ko": Letters(**TABLES.lists("ko")),
}


def foreign_stance(before: str, act: str, after: str, *, question: bool) -> str:
    """Return the stance of an act in a sentence of another language, or "" if the English rules are to decide.

    `before` is the act's clause up to the act, `after` the rest of its sentence.
    """
    whole = before + act + after
    script = "" if whole.isascii() else _script(whole)
    if script in UNSPACED:
        return _stance_by_letters(UNSPACED[script], before, act + after, question=question)
    is_english = all(char.isascii() or not char.isalpha() for char in act)  # by its letters
    name = script or _language_of_words(words(whole), least=FEWEST_WORDS if is_english else 1)
    return (
        _stance_by_words(SPACED[name], words(before), words(act)[1:], words(after), question=question) if name else ""
    )


def _script(text: str) -> str:
    """Return the language whose script most letters of a text belong to, or ""; any Kana means Japanese."""
    counts = dict.fromkeys(("ja", "ko", "ru", "zh"), 0)
    for char in text:
        name = "" if char < "\u0400" else _language_of_script(ord(char))
        if name:
            counts[name] += 1
    if counts["ja"]:
        return "ja"
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > 1 else ""


def _language_of_script(code_point: int) -> str:
    """Return the language that the script of a character stands for, or ""."""
    if 0x0400 <= code_point <= 0x04FF:
        return "ru"
    if 0x3040 <= code_point <= 0x30FF:
        return "ja"
    if 0xAC00 <= code_point <= 0xD7AF:
        return "ko"
    return "zh" if 0x3400 <= code_point <= 0x9FFF else ""


def _language_of_words(words: Sequence[str], *, least: int) -> str:
    """Return the language with the most small words in a sentence, if they outnumber the English ones, else ""."""
    present = set(words)
    english = len(present & ENGLISH)
    counts = {
        name: len(present & (language.marks | language.denials | language.requests))
        for name, language in SPACED.items()
    }
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= least and counts[best] > english else ""


def _stance_by_words(
    language: Language, before: Sequence[str], within: Sequence[str], after: Sequence[str], *, question: bool
) -> str:
    """Return the stance of an act, by the words before, within and after it."""
    near, first = before[-WORDS_BEFORE:], next(iter(before), "")
    if language.denials.intersection((*near, *within)) or language.denials_after.intersection(after[:WORDS_AFTER]):
        return NEGATED
    if THAN.intersection(near[-3:]) and COMPARING.intersection(near):
        return REPORTED
    if question:
        return REQUESTED if language.requests.intersection(before[:3]) else ASKED
    if first in language.questions - language.marks or CONDITIONS.intersection(before[:2]):
        return ASKED
    return REPORTED if language.past.intersection(near[-3:]) else ANNOUNCED


def _stance_by_letters(language: Letters, before: str, rest: str, *, question: bool) -> str:
    """Return the stance of an act, by the letters before it and those from it on."""
    near = before[-NEAR_LETTERS:]
    if any(run in near for run in language.denials) or any(run in rest for run in language.denials_after):
        return NEGATED
    is_question = question or any(run in before + rest for run in language.questions)
    if is_question:
        return REQUESTED if any(run in before + rest for run in language.requests) else ASKED
    is_past = any(run in near for run in language.past) or any(run in rest for run in language.past_after)
    return REPORTED if is_past else ANNOUNCED
