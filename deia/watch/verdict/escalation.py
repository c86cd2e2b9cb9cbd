"""Escalation: when a person says yes to a question about something that deia warned about, the warning is repeated.

The repeated warning is as urgent as its trigger, names its documents without repeating them, and comes once a
conversation. The act itself then gets the trigger's action even though the trigger fired before. Only a yes to the
previous turn counts, if that turn asked something, and only for triggers that do more than note.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.tables import Tables
from deia.text import one_line, shorten, words
from deia.watch.memory.recall import ANSWERED_TOOLS, MOST_ANSWER, Memory
from deia.watch.verdict.judge import FIRES, MILDEST, Circumstances, Verdict, firing_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from deia.watch.gate.artefact import Artefact
    from deia.watch.turn.parsed_turn import Reading

MOST_SHOWN = 60  # characters of the answer
MOST_OFFERED = 40  # triggers for one announcement
SPOKEN = frozenset((FIRES, "memory"))  # stages of triggers that speak, or have spoken
QUESTION_MARKS = ("?", "\uff1f")
CLOSING_MARKS = " \t\r\n*_`)\"'"  # after a question mark
PROPOSED = ("is supposed", "is asked")  # endings of the verdicts on an act that may be proposed
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
    if first in YES or any(tuple(answer[at : at + len(phrase)]) == phrase for phrase in YES_PHRASES for at in range(3)):
        return True
    return (answer[0] in WEAK or first in WEAK) and len(answer) <= MOST_AFTER_WEAK


def offered(artefact: Artefact, verdicts: Iterable[Verdict], reading: Reading, memory: Memory) -> list[str]:
    """Return the triggers of what an assistant asks leave for: those that fire on it, and those that fired before.

    An act that is only supposed counts as proposed: "I could delete it. Should I?"
    """
    if not _asks(reading):
        return []
    triggers = [
        verdict.trigger
        for verdict in verdicts
        if (verdict.stage in SPOKEN or (verdict.stage == "stance" and verdict.detail.endswith(PROPOSED)))
        and verdict.trigger not in memory.escalated
        and (verdict.firing or artefact.trigger(verdict.number)).action != MILDEST
    ]
    return triggers[:MOST_OFFERED]


def _asks(reading: Reading) -> bool:
    """Return whether an assistant's turn ends with a question to the person, or asks by a tool."""
    turn = reading.turn
    if turn.role not in {"assistant", "tool_call"}:
        return False
    by_tool = turn.tool.lower() in ANSWERED_TOOLS and bool(reading.said)
    return by_tool or reading.said.rstrip(CLOSING_MARKS).endswith(QUESTION_MARKS)


def escalations(artefact: Artefact, turn: Turn, circumstances: Circumstances) -> list[Verdict]:
    """Return the verdicts for the triggers that a yes refers to, in the order in which they were announced."""
    memory = circumstances.memory
    if not memory.awaits_answer or not affirms(turn):
        return []
    answer = shorten(one_line(turn.text), MOST_SHOWN) if turn.role == "user" else "approved"
    because = f'"{answer}" in turn {turn.index} answers an announcement of it'
    pending = [trigger for trigger in memory.offered if trigger not in memory.escalated]
    verdicts = []
    for number in numbers_of(artefact, pending):
        trigger = artefact.trigger(number)
        muted = trigger.id in circumstances.muted
        firing = None if muted else firing_of(artefact, trigger, turn, because, said=True)
        stage = "muted" if muted else FIRES
        verdicts.append(Verdict(trigger=trigger.id, stage=stage, detail=because, number=number, firing=firing))
    return verdicts


def numbers_of(artefact: Artefact, identities: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of triggers by their ids, using their sorted order; ids that no longer exist are skipped."""
    for identity in identities:
        low, high = 0, artefact.meta.triggers
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if artefact.trigger(middle).id < identity else (low, middle)
        if low < artefact.meta.triggers and artefact.trigger(low).id == identity:
            yield low
