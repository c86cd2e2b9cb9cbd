"""Escalation: a person says yes to what was announced and warned about, so the warning is said once more, shorter.

One step more urgent, with its documents named and not repeated, once a conversation; the act itself is then treated as
the trigger's action says, although the trigger spoke before. Refuses to hear a yes to anything but the turn before it.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import one_line, shorten
from deia.watch.memory.affirmation import affirms
from deia.watch.verdict.judge import FIRES, Verdict, firing_of, raised

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from deia.records import Turn
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.log import Memory
    from deia.watch.turn.parsed_turn import Reading
    from deia.watch.verdict.judge import Circumstances

MOST_SHOWN = 60  # characters of the answer
MOST_OFFERED = 20  # triggers that one announcement is about
PROPOSED = ("is supposed", "is asked")  # how a verdict ends whose act was not announced, but may be what is proposed


def offered(verdicts: Iterable[Verdict], reading: Reading, memory: Memory) -> list[str]:
    """Give the triggers that an assistant's words announce: those that fire on it, and those that fired before.

    Where the words end with a question, what they only suppose is a proposal: "I could delete it. Should I?"
    """
    turn = reading.turn
    if not (turn.role == "assistant" or (turn.role == "tool_call" and reading.said)):
        return []
    stages = {FIRES, "memory", *(("stance",) if turn.text.rstrip().endswith("?") else ())}
    found = [
        one.trigger
        for one in verdicts
        if one.stage in stages and one.trigger not in memory.escalated and (one.stage != "stance" or _is_proposed(one))
    ]
    return found[:MOST_OFFERED]


def _is_proposed(verdict: Verdict) -> bool:
    return verdict.detail.endswith(PROPOSED)


def escalations(artefact: Artefact, turn: Turn, about: Circumstances) -> list[Verdict]:
    """Give the verdicts of the triggers that a yes is about, in the order in which they were announced."""
    memory: Memory = about.memory
    if not memory.awaits_answer or not affirms(turn):
        return []
    answer = shorten(one_line(turn.text), MOST_SHOWN) if turn.role == "user" else "approved"
    because = f'"{answer}" in turn {turn.index} answers an announcement of it'
    waiting = [one for one in memory.offered if one not in memory.escalated]
    return [_escalated(artefact, number, because, turn, about) for number in numbers_of(artefact, waiting)]


def _escalated(artefact: Artefact, number: int, because: str, turn: Turn, about: Circumstances) -> Verdict:
    trigger = artefact.trigger(number)
    identity: str = trigger["id"]
    if identity in about.muted:
        return Verdict(trigger=identity, stage="muted", detail=because, number=number)
    firing = raised(firing_of(artefact, trigger, turn, because))
    return Verdict(trigger=identity, stage=FIRES, detail=because, number=number, firing=firing)


def numbers_of(artefact: Artefact, identities: Sequence[str]) -> Iterator[int]:
    """Find triggers by their ids, in which order they lie; one that is gone since is left out."""
    for identity in identities:
        low, high = 0, artefact.meta["triggers"]
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if artefact.trigger(middle)["id"] < identity else (low, middle)
        if low < artefact.meta["triggers"] and artefact.trigger(low)["id"] == identity:
            yield low
