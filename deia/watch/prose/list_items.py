"""Lists in what an assistant writes: whether an item says what will be done, or only describes or advises.

"- Delete the branch" under "I'll clean up:" is a step of a plan. Under "`reset` does this:" it is what a program does.
"""

from __future__ import annotations

from deia.tables import Tables
from deia.text import words

TABLES = Tables(__file__)
PLANNING = TABLES.words("planning")
BULLETS = frozenset(("-", "*", "+", "\u2022", "//"))
ORNAMENTS = " \t[]xX*_`"  # a box to tick and marks of emphasis, which may stand before the words of an item
LONGEST_LIST = 6000  # characters above an item in which the line that introduces its list is looked for
LONGEST_INTRODUCTION = 300  # characters of its end that are read


def is_described(text: str, verb: int) -> bool:
    """Return whether the verb at an index begins an item of a list that no plan and no intention introduces."""
    start = text.rfind("\n", 0, verb) + 1
    mark, _, before = text[start:verb].lstrip().partition(" ")
    if not _is_mark(mark) or before.strip(ORNAMENTS):
        return False
    return PLANNING.isdisjoint(words(_introduction(text[max(start - LONGEST_LIST, 0) : start])))


def _is_mark(word: str) -> bool:
    """Return whether a word begins an item: a bullet, or a number such as "2." or "10)"."""
    return word in BULLETS or (word[-1:] in {".", ")"} and word[:-1].isdigit())


def _introduction(text: str) -> str:
    """Return the end of the last line of a text that is neither empty nor indented nor an item of a list."""
    for line in reversed(text.splitlines()):
        if line.strip() and not line[0].isspace() and not _is_mark(line.partition(" ")[0]):
            return line[-LONGEST_INTRODUCTION:]
    return ""
