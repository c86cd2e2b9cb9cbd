"""Lists in what an assistant writes: whether an item says what will be done, or only describes or advises.

"- Delete the branch" under "I'll clean up:" is a step of a plan. Under "`reset` does this:" it is what a program does.
"""

from __future__ import annotations

import re

from deia.tables import Tables
from deia.text import words

PLANNING = Tables(__file__).words("planning")
ITEM = re.compile(r"[ \t]*(?:[-*+\u2022]|//|\d{1,3}[.)])[ \t]")
MARKS = re.compile(r"[ \t]*(?:(?:[-*+\u2022]|//|\d{1,3}[.)])[ \t]*)?(?:\[[ xX]?\][ \t]*)?[*_`]*")
LONGEST_LIST = 6000  # characters above an item in which the line that introduces its list is looked for
LONGEST_INTRODUCTION = 300  # characters of its end that are read


def is_described(text: str, verb: int) -> bool:
    """Return whether the verb at an index begins an item of a list that no plan and no intention introduces."""
    start = text.rfind("\n", 0, verb) + 1
    line = text[start:verb]
    if not ITEM.match(line) or not MARKS.fullmatch(line):
        return False
    return PLANNING.isdisjoint(words(_introduction(text[max(start - LONGEST_LIST, 0) : start])))


def _introduction(text: str) -> str:
    """Return the end of the last line of a text that is neither empty nor an item of a list."""
    while text:
        text, _, line = text.rstrip().rpartition("\n")
        if not line or not (ITEM.match(line) or line[:1].isspace()):
            return line[-LONGEST_INTRODUCTION:]
    return ""
