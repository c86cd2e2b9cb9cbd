"""Escalation: when a person says yes to a question about something that deia warned about, the warning is repeated.

The repeated warning is as urgent as its trigger, names its documents without repeating them, and comes once a
conversation. The act itself then gets the trigger's action even though the trigger fired before. Only a yes to the
previous turn counts, if that turn asked something, and only for triggers that do more than note.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.text import one_line, shorten
from deia.watch.memory.affirmation import affirms
from deia.watch.memory.log import ANSWERED_TOOLS, Memory
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


def offered(artefact: Artefact, verdicts: Iterable[Verdict], reading: Reading, memory: Memory) -> list[str]:
    """Return the triggers of what an assistant asks leave for: those that fire on it, and those that fired before.

    An act that is only supposed counts as proposed: "I could delete it. Should I?"
    """
    if not _asks(reading):
        return []
    triggers = [
        verdict.trigger
        for verdict in verdicts
        if (verdict.stage in SPOKEN or _is_proposed(verdict))
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


def _is_proposed(verdict: Verdict) -> bool:
    return verdict.stage == "stance" and verdict.detail.endswith(PROPOSED)


def escalations(artefact: Artefact, turn: Turn, circumstances: Circumstances) -> list[Verdict]:
    """Return the verdicts for the triggers that a yes refers to, in the order in which they were announced."""
    memory = circumstances.memory
    if not memory.awaits_answer or not affirms(turn):
        return []
    answer = shorten(one_line(turn.text), MOST_SHOWN) if turn.role == "user" else "approved"
    because = f'"{answer}" in turn {turn.index} answers an announcement of it'
    pending = [trigger for trigger in memory.offered if trigger not in memory.escalated]
    numbers = numbers_of(artefact, pending)
    return [_escalated(artefact, number, because, turn, circumstances) for number in numbers]


def _escalated(artefact: Artefact, number: int, because: str, turn: Turn, circumstances: Circumstances) -> Verdict:
    trigger = artefact.trigger(number)
    identity = trigger.id
    if identity in circumstances.muted:
        return Verdict(trigger=identity, stage="muted", detail=because, number=number)
    firing = firing_of(artefact, trigger, turn, because, said=True)
    return Verdict(trigger=identity, stage=FIRES, detail=because, number=number, firing=firing)


def numbers_of(artefact: Artefact, identities: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of triggers by their ids, using their sorted order; ids that no longer exist are skipped."""
    for identity in identities:
        low, high = 0, artefact.meta.triggers
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if artefact.trigger(middle).id < identity else (low, middle)
        if low < artefact.meta.triggers and artefact.trigger(low).id == identity:
            yield low
