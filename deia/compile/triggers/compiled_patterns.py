"""Compile regular expressions: their code for the watcher, and the words that a match must contain.

The code is for a private interface of `re` (`_sre.compile`). So the artefact records which interpreter made it, and
another interpreter compiles the source with `re.compile` instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _compiler, _parser  # type: ignore[attr-defined]  # the one parser that reads patterns as `re` does
from typing import Any, TypeAlias

from deia.compile.triggers.gate_tables import Group
from deia.text import words
from deia.watch.compiled_trigger import CompiledPattern

FLAGS = int(re.IGNORECASE | re.MULTILINE)
MARK = "\x02"  # in a literal run: any text may be here
EDGE = " "  # in a literal run: a word certainly ends here
Around = tuple[str, str]  # the text before and after an item: MARK or EDGE
Argument: TypeAlias = Any  # of an operator, of any form: the parse tree of `re` is private and untyped
Items = Iterable[tuple[object, Argument]]  # a pattern as `re` parses it: operators with their arguments
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
EDGES = frozenset(
    "AT_BOUNDARY AT_BEGINNING AT_BEGINNING_STRING AT_BEGINNING_LINE AT_END AT_END_STRING AT_END_LINE".split()
)


def compiled_pattern(source: str) -> CompiledPattern:
    """Return a checked pattern with its code: the arguments that `_sre.compile` takes."""
    parsed = _parser.parse(source, FLAGS)
    code: list[int] = _compiler._code(parsed, FLAGS)  # noqa: SLF001 - see above
    return CompiledPattern(source=source, flags=FLAGS | parsed.state.flags, code=code, groups=parsed.state.groups - 1)


def required_groups(pattern: str) -> list[Group]:
    """Return groups of words: every text that the pattern matches has a word of each group as a whole word."""
    run, groups = _walk(_parser.parse(pattern, FLAGS), (MARK, MARK))
    return [*groups, *_groups_of(f"{MARK}{run}{MARK}")]


def _groups_of(run: str) -> list[Group]:
    """Return a group for each whole word of a literal run, which is one that does not touch a MARK."""
    spaced = "".join(char if char == MARK or char.isalnum() else " " for char in run)
    whole = [word for word in spaced.split() if MARK not in word and word.isascii()]
    letters = [char for char in spaced if not char.isascii() and words(f"a{char}a") != [f"a{char}a".lower()]]
    return [*(Group((word,)) for text in whole for word in words(text)), *map(Group, letters)]


def _walk(parsed: Items, around: Around) -> tuple[str, list[Group]]:
    """Return the literal run of a sequence, with a MARK where it is not literal, and the groups of nested items."""
    items = [(str(operator), argument) for operator, argument in parsed]
    run, groups = "", []
    for number, (operator, argument) in enumerate(items):
        before = _side(run[-1]) if run else around[0]
        after = _beginning(*items[number + 1]) if number + 1 < len(items) else around[1]
        text, nested = _run_of(operator, argument, (before, after))
        run += text
        groups += nested
    return run, groups


def _side(char: str) -> str:
    """Return what a character next to an item means for it: EDGE if a word ends there, else MARK."""
    return MARK if char == MARK or char.isalnum() else EDGE


def _beginning(operator: str, argument: Argument) -> str:
    """Return what an item means for the one before it."""
    if operator == "LITERAL":
        return _side(chr(argument))
    return EDGE if _is_edge(operator, argument) else MARK


def _is_edge(operator: str, argument: Argument) -> bool:
    """Return whether a word certainly ends at an item: an anchor, or white space."""
    if operator == "IN":
        return all(str(kind) == "CATEGORY" and str(category) == "CATEGORY_SPACE" for kind, category in argument)
    return operator == "AT" and str(argument) in EDGES


def _run_of(operator: str, argument: Argument, around: Around) -> tuple[str, list[Group]]:
    """Return the literal run of one item, and the groups of the items in it."""
    if operator == "LITERAL":
        return chr(argument), []
    if operator == "SUBPATTERN":
        return _walk(argument[3], around)
    if operator in REPEATS and argument[0] >= 1:
        run, groups = _walk(argument[2], (around[0], MARK))
        return EDGE if run and not run.strip() else MARK, [*groups, *_groups_of(f"{around[0]}{run}{MARK}")]
    if operator in REPEATS and around[0] == EDGE and _ends_with_edge(argument[2]):
        return EDGE, []  # a word ends before it and at its end, so it does not matter whether it occurs
    if operator == "BRANCH":
        options = [_best(option, around) for option in argument[1]]
        return MARK, [Group().union(*options)] if all(options) else []  # nothing, if one of them needs no word
    return EDGE if _is_edge(operator, argument) else MARK, []


def _ends_with_edge(parsed: Items) -> bool:
    """Return whether a word certainly ends at the end of a sequence: "(?:it |this )?" before a word."""
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


def _best(option: Items, around: Around) -> Group:
    """Return the group of an alternative with the longest words; empty if it needs no word."""
    run, groups = _walk(option, around)
    candidates = [*groups, *_groups_of(f"{around[0]}{run}{around[1]}")]
    return max(candidates, key=lambda group: min(map(len, group)), default=Group())
