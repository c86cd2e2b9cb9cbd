"""Groups of words for the same thing, from three sources.

A commons declares some, its texts define some in brackets, and `abbreviations.txt` lists the field's common
abbreviations, for words that the commons itself may never use. Nothing is guessed from words that merely occur
together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TypedDict

import tantivy

from deia.commons.index.index_records import Concept
from deia.match.keyword import analyser
from deia.match.tokeniser import STOP_WORDS, question_words
from deia.tables import text_beside

MOST_DEFINED = 2_000  # abbreviations that are kept, the most frequently defined first
MOST_WORDS = 8  # in a long form
SHORT_IN_BRACKETS = re.compile(r"\(([A-Z][A-Za-z0-9]{1,7}?)s?\)")
LONG_IN_BRACKETS = re.compile(r"\b([A-Z][A-Z0-9]{1,7})s? \(([A-Za-z][A-Za-z \-]{3,80})\)")
WORD = re.compile(r"[A-Za-z0-9]+")
LEAST_LETTERS = 2
ORDINARY = 4  # letters from which an abbreviation may also be an ordinary word, such as TIME


@cache
def common_abbreviations() -> tuple[tuple[str, ...], ...]:
    """Return the field's common abbreviations as groups of words for the same thing."""
    lines = [line for line in text_beside(__file__, ".txt").splitlines() if not line.startswith("#")]
    return tuple(tuple(member.strip() for member in line.split("|")) for line in lines)


def defined(text: str) -> list[tuple[str, str]]:
    """Return the abbreviations that a text defines, with their long forms: "Horizontal Pod Autoscaler (HPA)".

    "HPA (Horizontal Pod Autoscaler)" is read as well. An abbreviation that the text also uses as an ordinary word is
    left out.
    """
    pairs: list[tuple[str, str]] = []
    if "(" not in text:
        return pairs
    for match in SHORT_IN_BRACKETS.finditer(text):
        before = WORD.findall(text[max(0, match.start() - 120) : match.start()].rpartition("\n\n")[2])
        long = _long_form(match[1], before)
        pairs += [(match[1].lower(), long)] if long else []
    for match in LONG_IN_BRACKETS.finditer(text):
        words = WORD.findall(match[2])
        long = _long_form(match[1], words)
        pairs += [(match[1].lower(), long)] if long and len(long.split()) == len(words) else []
    return [(short, long) for short, long in pairs if not _is_word(short, text)]


def _is_word(short: str, text: str) -> bool:
    return short in STOP_WORDS or (len(short) >= ORDINARY and re.search(rf"\b{short}\b", text) is not None)


def _long_form(short: str, before: Sequence[str]) -> str:
    """Return the last words of `before` whose initials spell the abbreviation, or ""."""
    # Stop words may lack a letter of their own: "point in time recovery" is the long form of both PITR and PTR.
    letters = [letter.lower() for letter in short if letter.isalpha()]
    words = [word.lower() for word in before[-MOST_WORDS:]]
    at = len(words)
    while letters and at:
        at -= 1
        if words[at][0] == letters[-1]:
            letters.pop()
        elif words[at] not in STOP_WORDS or at == len(words) - 1:
            return ""
    long = " ".join(words[at:])
    return long if not letters and len(words) - at >= LEAST_LETTERS and long != short.lower() else ""


class ConceptTable(TypedDict):
    """The catalog's file of word groups; keys are stems."""

    groups: list[list[list[str]]]  # a word and its key for each member of a group
    by: dict[str, list[int]]  # the numbers of the groups that contain a key
    defined: dict[str, int]  # how often the texts define "short|long form"


def concepts_source(declared: Iterable[Concept], counts: Mapping[str, int]) -> ConceptTable:
    """Return all groups of words for one thing, with an index of the groups by stem.

    `counts` says how often the texts define each "short|long form".
    """
    kept = sorted(counts, key=lambda pair: (-counts[pair], pair))[:MOST_DEFINED]
    groups = [tuple(concept.words) for concept in declared]
    groups += [tuple(pair.split("|")) for pair in kept]
    groups += list(common_abbreviations())
    groups_by_key: dict[str, list[int]] = {}
    kept_groups: list[list[list[str]]] = []
    stemmer = analyser()
    for group in groups:
        members = {key: word for word in group if (key := stem_key(stemmer, word))}
        if len(members) > 1:
            for key in members:
                groups_by_key.setdefault(key, []).append(len(kept_groups))
            kept_groups.append([[word, key] for key, word in members.items()])
    return {"groups": kept_groups, "by": groups_by_key, "defined": {pair: counts[pair] for pair in kept}}


def stem_key(stemmer: tantivy.TextAnalyzer, text: str) -> str:
    """Return the stems of a word or phrase, without stop words, as one text."""
    parts = [part for word in question_words(text) for part in (word[1:] or word)]
    return " ".join(stemmer.analyze(" ".join(parts))) if parts else ""


def counted(texts: Iterable[str]) -> Counter[str]:
    """Count the texts that define each "short|long form"."""
    counts = Counter[str]()
    for text in texts:
        counts.update({f"{short}|{long}" for short, long in defined(text)})
    return counts
