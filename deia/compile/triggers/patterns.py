"""Regular expressions at compile time: the words a pattern cannot match without, and its compiled code for the hook.

The code is a private interface of `re` (`_sre.compile`), so what made it is stored beside it, and the watcher falls
back to `re.compile` of the source where that differs.
"""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]  # built in, without a stub
import re
import sys
from collections.abc import Iterable, Mapping
from re import _compiler, _parser  # type: ignore[attr-defined]  # the one parser that reads patterns as `re` does
from typing import Any

from deia.text import words

FLAGS = int(re.IGNORECASE | re.MULTILINE)
MAKER = [sys.implementation.cache_tag, _sre.MAGIC, _sre.CODESIZE, sys.byteorder]
MARK = "\x02"  # stands in a literal run for "anything may be here"
EDGE = " "  # stands for a place where a word surely ends
Around = tuple[str, str]  # what stands before and after a part: MARK or EDGE


def regex_code(pattern: str) -> dict[str, Any]:
    """Compile a checked pattern to what `_sre.compile` takes: flags, code, number of groups."""
    parsed = _parser.parse(pattern, FLAGS)
    return {"f": FLAGS | parsed.state.flags, "c": _compiler._code(parsed, FLAGS), "g": parsed.state.groups - 1}  # noqa: SLF001


def compiled(patterns: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Give checked patterns as the watcher runs them, under the same names."""
    return {name: {"s": str(source), "v": regex_code(str(source))} for name, source in patterns.items()}


def required_groups(pattern: str) -> list[frozenset[str]]:
    """Give groups of words such that every text the pattern matches holds, as whole words, one word of each group."""
    run, groups = _walk(_parser.parse(pattern, FLAGS), (MARK, MARK))
    return [*groups, *_groups_of(f"{MARK}{run}{MARK}")]


def _groups_of(run: str) -> list[frozenset[str]]:
    """Give the whole words of a literal run: those that touch no place where anything may be."""
    spaced = "".join(char if char == MARK or char.isalnum() else " " for char in run)
    whole = [word for word in spaced.split() if MARK not in word and word.isascii()]
    return [frozenset((word,)) for text in whole for word in words(text)]


def _walk(parsed: Iterable[tuple[Any, Any]], around: Around) -> tuple[str, list[frozenset[str]]]:
    """Give the literal run of a sequence, MARK wherever it is not literal, and groups found deeper."""
    items = [(str(operator), argument) for operator, argument in parsed]
    run, groups = "", []
    for number, (operator, argument) in enumerate(items):
        before = _side(run[-1]) if run else around[0]
        after = _opening(*items[number + 1]) if number + 1 < len(items) else around[1]
        text, deeper = _piece(operator, argument, (before, after))
        run += text
        groups += deeper
    return run, groups


def _side(char: str) -> str:
    """Say what a character next to a part means for it: that a word ends there, or that anything may be."""
    return MARK if char == MARK or char.isalnum() else EDGE


def _opening(operator: str, argument: Any) -> str:
    """Give what a part means for the one before it."""
    if operator == "LITERAL":
        return _side(chr(argument))
    return EDGE if _is_edge(operator, argument) else MARK


def _is_edge(operator: str, argument: Any) -> bool:
    """Say whether a part is a place where a word surely ends: an anchor, or white space."""
    if operator == "IN":
        return all(str(kind) == "CATEGORY" and str(which) == "CATEGORY_SPACE" for kind, which in argument)
    return operator == "AT" and str(argument) in EDGES


def _piece(operator: str, argument: Any, around: Around) -> tuple[str, list[frozenset[str]]]:
    if operator == "LITERAL":
        return chr(argument), []
    if operator == "SUBPATTERN":
        return _walk(argument[3], around)
    if operator in REPEATS and argument[0] >= 1:
        run, groups = _walk(argument[2], (around[0], MARK))
        return EDGE if run and not run.strip() else MARK, [*groups, *_groups_of(f"{around[0]}{run}{MARK}")]
    if operator in REPEATS and around[0] == EDGE and _ends_with_edge(argument[2]):
        return EDGE, []  # a word ends before it and at its own end, so whether it is there or not
    if operator == "BRANCH":
        return MARK, _one_of([_best(option, around) for option in argument[1]])
    return EDGE if _is_edge(operator, argument) else MARK, []


def _ends_with_edge(parsed: Any) -> bool:
    """Say whether a word surely ends where a sequence ends: "(?:it |this )?" before a word."""
    items = list(parsed)
    if not items:
        return False
    operator, argument = str(items[-1][0]), items[-1][1]
    if operator == "LITERAL":
        return _side(chr(argument)) == EDGE
    if operator == "SUBPATTERN":
        return _ends_with_edge(argument[3])
    if operator == "BRANCH":
        return all(_ends_with_edge(option) for option in argument[1])
    return _is_edge(operator, argument)


REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
EDGES = (
    "AT_BOUNDARY",
    "AT_BEGINNING",
    "AT_BEGINNING_STRING",
    "AT_BEGINNING_LINE",
    "AT_END",
    "AT_END_STRING",
    "AT_END_LINE",
)


def _best(option: Any, around: Around) -> frozenset[str]:
    """Give the most telling group of an alternative, empty where it needs no word."""
    run, groups = _walk(option, around)
    found = [*groups, *_groups_of(f"{around[0]}{run}{around[1]}")]
    return max(found, key=lambda group: min(map(len, group)), default=frozenset())


def _one_of(found: list[frozenset[str]]) -> list[frozenset[str]]:
    """Give the group of which one word must be there when one of several alternatives matches."""
    return [frozenset().union(*found)] if found and all(found) else []
