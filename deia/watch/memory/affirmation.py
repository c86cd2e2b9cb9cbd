"""Whether a turn says yes, and nothing else, to what the turn before it announced.

The module lists ways to say yes in several languages. An answer that hesitates, asks or adds a condition is no yes.
"""

from __future__ import annotations

from deia.records import Turn
from deia.tables import Tables
from deia.text import words
from deia.watch.memory.log import MOST_ANSWER

TABLES = Tables(__file__)
YES = TABLES.words("yes")
YES_WHOLE = TABLES.words("yes whole")
FILLERS = TABLES.words("fillers")
WEAK = TABLES.words("weak")
MOST_AFTER_WEAK = 3  # words
YES_PHRASES = tuple(tuple(phrase.split()) for phrase in TABLES.phrases("yes phrases"))
SIGNS = ("\U0001f44d", "\u2705", "\U0001f680", "\U0001f44c", "\u2714")
BUT = TABLES.words("but")
MARKS = " .!~\u3002\uff01\uff5e"
MOST_WORDS = 12
APPROVED_PLANS = frozenset(("exitplanmode", "exit_plan_mode"))  # tools that return only after the plan was approved


def affirms(turn: Turn) -> bool:
    """Return whether a turn says yes and nothing else: a short answer, or the approval of a plan."""
    if turn.role == "tool_result":
        if turn.failed:
            return False
        if turn.tool.lower() in APPROVED_PLANS:
            return True
    text = turn.text.strip()
    answer = words(text)
    if len(text) > MOST_ANSWER or len(answer) > MOST_WORDS or "?" in text or BUT.intersection(answer):
        return False
    if not answer or text.strip(MARKS).lower() in YES_WHOLE:
        return bool(answer) or text.startswith(SIGNS)
    first = "".join(answer[int(answer[0] in FILLERS) :][:1])
    if first in YES or any(_has_phrase(answer, phrase) for phrase in YES_PHRASES):
        return True
    return (answer[0] in WEAK or first in WEAK) and len(answer) <= MOST_AFTER_WEAK


def _has_phrase(answer: list[str], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(tuple(answer[at : at + size]) == phrase for at in range(3))
