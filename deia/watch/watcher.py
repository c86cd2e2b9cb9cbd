"""One turn watched from gate to injection, with the conversation's memory kept; the hook and the Librarian call this.

Reading and appending the log is the only effect. Of several processes that see the same trigger fire at once, the one
whose line stands first in the log speaks; the others stay silent.
"""

from __future__ import annotations

import time

from deia import files
from deia.records import TYPE_CHECKING, Injection, Record
from deia.watch.gate.word_gate import candidates
from deia.watch.memory.log import QUIET, awaits_answer, fingerprint, line
from deia.watch.turn.parsed_turn import MOST_READ, Reading
from deia.watch.turn.regex import trust
from deia.watch.turn.spoken_tool_input import tasks_of
from deia.watch.turn.tool_call import command_of, strings
from deia.watch.verdict.action_cap import bounded
from deia.watch.verdict.earlier_statements import in_force, marks_of
from deia.watch.verdict.judge import FIRES, Circumstances, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from deia.records import Firing, Turn
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.log import FileLog, HeldLog, Memory
    from deia.watch.verdict.judge import Verdict

LEAST_BUDGET = 1200  # characters that an urgent injection gets even when the conversation's budget is spent


class Surroundings(Record):
    """What the rim knows besides the turn: clock, folder, mutes, and whether a hold is possible here."""

    now: float
    folder: Any = None
    muted: frozenset[str] = frozenset()
    exists: Any = None  # path → whether there is such a file; without it no condition on files is met
    allowed: frozenset[str] = frozenset()  # triggers that the person lets pass in a tool call
    bounded: bool = True  # whether the settings' bounds on actions count; not for cases, which prove the triggers


class Watched(Record):
    """What came of a turn."""

    verdicts: tuple[Verdict, ...] = ()
    firings: tuple[Firing, ...] = ()
    injection: Injection | None = None
    passed: tuple[str, ...] = ()  # triggers whose held call came again, or was allowed, and passes now
    left_out: tuple[str, ...] = ()  # triggers that fired and for which the budget had no room; they may speak later


class Decided(Record):
    """What a turn comes to, before anybody remembers it."""

    verdicts: tuple[Verdict, ...]
    firing: list[Verdict]  # those that fire, the most urgent first
    passed: tuple[str, ...]
    call: str  # what tells the call, "" where the turn is none
    left: Mapping[str, Any] = {}  # what else the conversation's memory keeps of the turn
    named: tuple[str, ...] = ()  # documents that are named and not repeated


NOTHING = Watched()
SILENCED = frozenset(("muted", "quiet"))  # stages at which a person or the settings stopped what would have fired
ANNOUNCING = frozenset((FIRES, "memory", "stance"))  # stages at which an act may have been announced


def watch(artefact: Artefact, turn: Turn, log: FileLog | HeldLog, look_around: Callable[[], Surroundings]) -> Watched:
    """Watch one turn: judge it, remember it, and give what fired with the text to inject.

    `look_around` is asked only when there is something to judge, since it may have to read files.
    """
    numbers, seen = candidates(artefact, turn)
    if not numbers and not awaits_answer(turn, log.read()):
        log.append(line({"seen": seen}) if seen else QUIET)
        return NOTHING
    return weigh(artefact, turn, log, look_around(), numbers=numbers, seen=seen)


def weigh(
    artefact: Artefact,
    turn: Turn,
    log: FileLog | HeldLog,
    around: Surroundings,
    *,
    numbers: Mapping[int, Collection[int]],
    seen: Sequence[str],
) -> Watched:
    """Judge what the gate let through and remember the turn."""
    memory = log.memory()
    judged = decide(artefact, turn, memory, around, numbers=numbers, seen=seen)
    memory.documents = memory.documents.union(judged.named) - _unheard(memory, judged.firing)
    won = _claim(artefact, log, memory, around.now, judged, seen=seen)
    firings = tuple(one.firing for one in won if one.firing)
    injection = _injection(artefact, memory, firings) if firings else None
    left_out = injection.left_out if injection else ()
    said = injection if injection and injection.text else None
    return Watched(verdicts=judged.verdicts, firings=firings, injection=said, passed=judged.passed, left_out=left_out)


def _unheard(memory: Memory, firing: Sequence[Verdict]) -> set[str]:
    """Give the documents of triggers that fire again while what they said still waits: the model has not read them."""
    if not (memory.queued and firing):
        return set()
    from deia.watch.injection import has_frame  # noqa: PLC0415 - most turns that are judged say nothing

    again = [one.firing for one in firing if one.firing and any(has_frame(text, one.trigger) for text in memory.queued)]
    return {document.id for each in again for document in each.documents}


def decide(
    artefact: Artefact,
    turn: Turn,
    memory: Memory,
    around: Surroundings,
    *,
    numbers: Mapping[int, Collection[int]],
    seen: Sequence[str],
) -> Decided:
    """Judge what the gate let through against what the conversation has seen; nothing is remembered."""
    if turn.index == 1:  # who sees one event at a time does not count
        turn = turn.but(index=memory.turns + 1)
    trust(artefact.meta["regex"])
    call = call_print(turn)
    about = Circumstances(
        memory=memory, seen=tuple(seen), folder=around.folder, muted=around.muted, now=around.now,
        recent_turns=artefact.meta["settings"]["recent_turns"], exists=around.exists,
    )  # fmt: skip
    reading = Reading(_shortened(artefact, turn, numbers), known=memory.items)
    marks = marks_of(artefact, numbers, reading)
    about = about.but(marks=in_force(memory, marks))
    own = {number: looked_at for number, looked_at in numbers.items() if number < artefact.meta["triggers"]}
    again = _escalations(artefact, turn, about)
    risen = {one.trigger for one in again}
    verdicts = (*again, *(one for one in judge(artefact, own, reading, about) if one.trigger not in risen))
    if around.bounded:
        verdicts = _within_settings(artefact, verdicts, memory, around.now)
    repeated = call in memory.held
    allowed = around.allowed if call else frozenset()
    heard = [one for one in verdicts if one.firing and one.trigger not in allowed]
    firing = [one for one in heard if one.firing and not (repeated and one.firing.action == "hold")]
    passed = tuple(
        one.trigger
        for one in verdicts
        if (repeated and one.stage in {FIRES, "memory"}) or (one.firing and one.trigger in allowed)
    )
    spoken = [one for one in again if one.firing]
    left = {
        "marks": marks, "items": [one for one in tasks_of(turn) if one not in memory.items],
        "offered": _offered(verdicts, reading, memory), "escalated": [one.trigger for one in spoken],
    }  # fmt: skip
    named = tuple(document.id for one in spoken if one.firing for document in one.firing.documents)
    return Decided(verdicts=verdicts, firing=firing, passed=passed, call=call, left=left, named=named)


def _shortened(artefact: Artefact, turn: Turn, numbers: Collection[int]) -> Turn:
    if len(turn.text) <= MOST_READ:
        return turn
    from deia.watch.gate.long_turns import condensed  # noqa: PLC0415 - hardly any turn is so long

    return condensed(artefact, turn, numbers)


def _escalations(artefact: Artefact, turn: Turn, about: Circumstances) -> list[Verdict]:
    if not about.memory.awaits_answer:
        return []
    from deia.watch.verdict.escalation import escalations  # noqa: PLC0415 - nothing was announced before most turns

    return escalations(artefact, turn, about)


def _offered(verdicts: Sequence[Verdict], reading: Reading, memory: Memory) -> list[str]:
    """Give the triggers that an assistant's words announce."""
    if not any(one.stage in ANNOUNCING for one in verdicts):
        return []
    from deia.watch.verdict.escalation import offered  # noqa: PLC0415 - as above

    return offered(verdicts, reading, memory)


def _within_settings(
    artefact: Artefact, verdicts: Sequence[Verdict], memory: Memory, now: float
) -> tuple[Verdict, ...]:
    """Give verdicts as the settings of the project have them: milder, switched off, or waiting for another hour."""
    settings = artefact.meta["settings"]
    verdicts = bounded(verdicts, settings)
    if not (settings.get("quiet") or settings.get("most_per_hour")):
        return verdicts
    from deia.watch.verdict.quiet_hours import hushed  # noqa: PLC0415 - hardly any project has quiet hours

    return hushed(verdicts, artefact, memory, now)


def _claim(
    artefact: Artefact, log: FileLog | HeldLog, memory: Memory, now: float, judged: Decided, *, seen: Sequence[str]
) -> list[Verdict]:
    """Write the turn into the log and give the firings that are ours: those no other process claimed before."""
    firing, call = judged.firing, judged.call
    if not firing:
        left = {name: value for name, value in {"seen": list(seen), **judged.left}.items() if value}
        log.append(line(left) if left else QUIET)
        return []
    claim = f"{files.process():x}.{time.perf_counter_ns():x}"
    injection = _injection(artefact, memory, tuple(one.firing for one in firing if one.firing))
    held = [call] if injection.action == "hold" and call else []
    aside = {*injection.left_out, *judged.left["escalated"]}
    spoken = [one.trigger for one in firing if one.trigger not in aside]
    entry = {
        "at": now, "fired": dict.fromkeys(spoken, claim), "seen": list(seen),
        "docs": list(injection.documents), "chars": len(injection.text), "held": held, **judged.left,
    }  # fmt: skip
    log.append(line(entry))
    after = log.memory()
    known = memory.fired
    return [one for one in firing if one.trigger in known or after.fired.get(one.trigger, (0.0, claim))[1] == claim]


def _injection(artefact: Artefact, memory: Memory, firings: tuple[Firing, ...]) -> Injection:
    from deia.watch.injection import URGENT, compose  # noqa: PLC0415 - as above

    settings = artefact.meta["settings"]
    left = settings["conversation_chars"] - memory.chars
    least = LEAST_BUDGET if any(firing.urgency in URGENT for firing in firings) else 0
    budget = max(min(settings["injection_chars"], left), least)
    return compose(firings, artefact.document_of, shown=memory.documents, budget=budget)


def call_print(turn: Turn) -> str:
    """Give what tells one tool call from another, so that the same call is known when it comes again."""
    if turn.role != "tool_call":
        return ""
    text = command_of(turn) or _input_print(turn)
    return f"{turn.tool}:{len(text):x}-{fingerprint(text):x}"


def _input_print(turn: Turn) -> str:
    """Write a tool's input down, the same however its fields are ordered; of one that is nested too deep, its texts."""
    try:
        return repr(sorted((turn.tool_input or {}).items(), key=str))
    except RecursionError:
        return "\n".join(strings(turn.tool_input))
