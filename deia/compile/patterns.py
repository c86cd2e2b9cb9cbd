"""Regular expressions at compile time: the words a pattern cannot match without, and its compiled code for the hook.

The code is a private interface of `re` (`_sre.compile`), so what made it is stored beside it, and the watcher falls
back to `re.compile` of the source where that differs.
"""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]  # built in, without a stub
import re
import sys
from re import _compiler, _parser  # type: ignore[attr-defined]  # the one parser that reads patterns as `re` does
from typing import TYPE_CHECKING, Any

from deia.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable

FLAGS = int(re.IGNORECASE | re.MULTILINE)
MAKER = [sys.implementation.cache_tag, _sre.MAGIC, _sre.CODESIZE, sys.byteorder]
MARK = "\x02"  # stands in a literal run for "anything may be here"
EDGE = " "  # stands for a place where a word surely ends


def regex_code(pattern: str) -> dict[str, Any]:
    """Compile a checked pattern to what `_sre.compile` takes: flags, code, number of groups."""
    parsed = _parser.parse(pattern, FLAGS)
    return {"f": FLAGS | parsed.state.flags, "c": _compiler._code(parsed, FLAGS), "g": parsed.state.groups - 1}  # noqa: SLF001


def required_groups(pattern: str) -> list[frozenset[str]]:
    """Give groups of words such that every text the pattern matches holds, as whole words, one word of each group."""
    text, groups = _walk(_parser.parse(pattern, FLAGS))
    return [*groups, *_groups_of(text)]


def _groups_of(run: str) -> list[frozenset[str]]:
    """Give the whole words of a literal run: those that touch no place where anything may be."""
    spaced = "".join(char if char == MARK or char.isalnum() else " " for char in run)
    whole = [word for word in spaced.split() if MARK not in word and word.isascii()]
    return [frozenset((word,)) for text in whole for word in words(text)]


def _walk(parsed: Iterable[tuple[Any, Any]]) -> tuple[str, list[frozenset[str]]]:
    """Give the literal run of a sequence, MARK at both ends and wherever it is not literal, and groups found deeper."""
    run, groups = MARK, []
    for operator, argument in parsed:
        text, deeper = _piece(str(operator), argument)
        run += text
        groups += deeper
    return run + MARK, groups


def _piece(operator: str, argument: Any) -> tuple[str, list[frozenset[str]]]:
    if operator == "LITERAL":
        return chr(argument), []
    if operator == "AT":
        return (EDGE if str(argument) in EDGES else MARK), []
    if operator == "IN" and all(str(kind) == "CATEGORY" and str(which) == "CATEGORY_SPACE" for kind, which in argument):
        return EDGE, []
    if operator == "SUBPATTERN":
        text, groups = _walk(argument[3])
        return text[1:-1], groups
    if operator in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[0] >= 1:
        text, groups = _walk(argument[2])
        inside = text[1:-1]
        return (EDGE if inside.strip() == "" and inside else MARK), [*groups, *_groups_of(f"{MARK}{inside}{MARK}")]
    if operator == "BRANCH":
        return MARK, _one_of(
            [required for option in argument[1] if (required := _best(option)) is not None], argument[1]
        )
    return MARK, []


EDGES = (
    "AT_BOUNDARY",
    "AT_BEGINNING",
    "AT_BEGINNING_STRING",
    "AT_BEGINNING_LINE",
    "AT_END",
    "AT_END_STRING",
    "AT_END_LINE",
)


def _best(option: Any) -> frozenset[str] | None:
    text, groups = _walk(option)
    return max([*groups, *_groups_of(text)], key=lambda group: min(map(len, group)), default=None)


def _one_of(found: list[frozenset[str]], options: list[Any]) -> list[frozenset[str]]:
    return [frozenset().union(*found)] if found and len(found) == len(options) else []
