"""Watching one turn, from gate to injection, and remembering it in the conversation's log.

The hook and the Librarian both call this. Reading and appending to the log is the only side effect. If several
processes see the same trigger fire at once, the one whose line comes first in the log speaks; the others stay silent.
"""

from __future__ import annotations

import time

from deia import files
from deia.firing import Firing, Injection
from deia.records import STOPPING, TYPE_CHECKING, Record, Turn
from deia.watch.gate.word_gate import candidates
from deia.watch.memory.log import QUIET, FileLog, LogEntry, log_line
from deia.watch.memory.recall import InMemoryLog, Memory, awaits_answer, memory_of
from deia.watch.turn.call_print import call_print
from deia.watch.turn.parsed_turn import MOST_READ, Reading
from deia.watch.turn.regex import trust
from deia.watch.turn.spoken_tool_input import tasks_of
from deia.watch.verdict.earlier_statements import in_force, marks_of
from deia.watch.verdict.judge import FIRES, Circumstances, FileCheck, FolderSigns, Importers, Verdict, bounded, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from deia.watch.gate.artefact import Artefact
    from deia.watch.silence.modes import Mode

    Candidates = Mapping[int, Collection[int]]  # triggers and marks by number, each with the numbers of its clauses
    Log = FileLog | InMemoryLog

MOST_STOPPED = 5  # calls that a trigger stops in a conversation, so that no agent is stopped for ever by varying them
LEAST_BUDGET = 1200  # characters for an urgent injection even if the conversation's budget is spent


class Surroundings(Record):
    """What the caller knows besides the turn: clock, folder, mutes and permissions."""

    now: float
    folder: FolderSigns | None = None
    muted: frozenset[str] = frozenset()
    exists: FileCheck | None = None  # without it no condition on files is met
    importers: Importers | None = None  # likewise on what imports them
    allowed: frozenset[str] = frozenset()  # triggers that the person lets pass in a tool call
    mode: Callable[[], Mode] | None = None  # reads how strict the person wants deia; called only if something fires
    bounded: bool = True  # whether settings and other triggers limit it; not for cases, which test a trigger itself


class Watched(Record):
    """The outcome of a turn."""

    verdicts: tuple[Verdict, ...] = ()
    firings: tuple[Firing, ...] = ()
    injection: Injection | None = None
    passed: tuple[str, ...] = ()  # triggers whose held call was repeated or allowed, and passes now
    left_out: tuple[str, ...] = ()  # triggers for which the budget had no room; they may be shown later
    spoken: tuple[str, ...] = ()  # triggers that only speak of an act which they would stop


class Decision(Record):
    """The decision about a turn, before anything is remembered."""

    verdicts: tuple[Verdict, ...]
    firing: list[Verdict]  # those that fire, the most urgent first
    passed: tuple[str, ...]
    call: str  # the call's fingerprint, "" if the turn is no call
    left: LogEntry  # what else the conversation's memory keeps of the turn
    named: tuple[str, ...] = ()  # documents that are named without being repeated
    spoken: tuple[str, ...] = ()  # triggers that only speak of an act which they would stop


NOTHING = Watched()
OUTDONE = "sentence"  # the stage at which another trigger spoke for the sentence
SILENCED = frozenset(("muted", "quiet"))  # stages at which a person or the settings stopped a firing
ANNOUNCING = frozenset((FIRES, "memory", "stance"))  # stages that an announced act can reach


def watch(artefact: Artefact, turn: Turn, log: Log, look_around: Callable[[], Surroundings]) -> Watched:
    """Judge one turn, remember it, and return what fired with the text to inject.

    `look_around` is called only if there is something to judge, since it may have to read files.
    """
    numbers, seen = candidates(artefact, turn)
    if not numbers and not awaits_answer(turn, log.read()):
        log.append(log_line(LogEntry(seen=seen)) if seen else QUIET)
        return NOTHING
    return weigh(artefact, turn, log, look_around(), numbers=numbers, seen=seen)


def weigh(
    artefact: Artefact, turn: Turn, log: Log, around: Surroundings, *, numbers: Candidates, seen: Sequence[str]
) -> Watched:
    """Judge the candidates that the gate let through, and remember the turn."""
    memory = memory_of(log)
    decision = decide(artefact, turn, memory, around, numbers=numbers, seen=seen)
    memory.documents = memory.documents.union(decision.named) - _unheard(memory, decision.firing)
    claimed = _claim(artefact, log, memory, around.now, decision, seen=seen)
    firings = tuple(verdict.firing for verdict in claimed if verdict.firing)
    injection = _injection(artefact, memory, firings) if firings else None
    return Watched(
        verdicts=decision.verdicts,
        firings=firings,
        injection=injection if injection and injection.text else None,
        passed=decision.passed,
        left_out=injection.left_out if injection else (),
        spoken=decision.spoken,
    )


def _unheard(memory: Memory, firing: Sequence[Verdict]) -> set[str]:
    """Return the documents of triggers that fire again while their queued text waits: the model has not read them."""
    if not (memory.queued and firing):
        return set()
    from deia.watch.injection import has_frame  # noqa: PLC0415 - most turns that are judged say nothing

    return {
        document.id
        for verdict in firing
        if verdict.firing and any(has_frame(text, verdict.trigger) for text in memory.queued)
        for document in verdict.firing.documents
    }


def decide(
    artefact: Artefact, turn: Turn, memory: Memory, around: Surroundings, *, numbers: Candidates, seen: Sequence[str]
) -> Decision:
    """Return the decision about the candidates, given what the conversation has seen; nothing is remembered."""
    if turn.index == 1:  # a caller that sees one event at a time does not number the turns
        turn = turn.but(index=memory.turns + 1)
    trust(artefact.meta.regex)
    shortened = _shortened(artefact, turn, numbers)
    reading = Reading(shortened, known=memory.items, whole=turn, act_words=artefact.act_words)
    marks = marks_of(artefact, numbers, reading)
    circumstances = Circumstances(
        memory=memory, seen=tuple(seen), folder=around.folder, muted=around.muted, now=around.now,
        recent_turns=artefact.meta.settings["recent_turns"], exists=around.exists, importers=around.importers,
        marks=in_force(memory, marks),
    )  # fmt: skip
    escalated = _escalations(artefact, turn, circumstances)
    verdicts = (*escalated, *_judge_others(artefact, numbers, reading, circumstances, escalated))
    texts: tuple[str, ...] = ()
    call = call_print(turn)
    if around.bounded:
        verdicts = bounded(_in_mode(verdicts, around), artefact.meta.settings)
    verdicts = tuple(_stopped_anew(verdict, artefact, memory, call) for verdict in verdicts)
    if around.bounded:
        verdicts, texts = _spoken_once(verdicts, turn, reading, memory)
        verdicts = _hushed(artefact, verdicts, memory, around.now)
    is_repeated = call in memory.held
    allowed = around.allowed if call else frozenset()
    firing, passed = _told_apart(verdicts, allowed, is_repeated=is_repeated)
    repetitions = [verdict for verdict in escalated if verdict.firing]
    spoken = _spoken(artefact, firing) if turn.role != "tool_call" or reading.said else ()
    left = LogEntry(
        marks={mark: statement for mark, statement in marks.items() if statement or mark in memory.marks},
        items=[task for task in tasks_of(turn) if task not in memory.items],
        offered=_offered(artefact, verdicts, reading, memory),
        escalated=[verdict.trigger for verdict in repetitions],
        outdone=[verdict.trigger for verdict in verdicts if verdict.stage == OUTDONE],
        texts=texts,
        armed=spoken,
    )
    named = tuple(document.id for verdict in repetitions if verdict.firing for document in verdict.firing.documents)
    return Decision(
        verdicts=verdicts, firing=firing, passed=passed, call=call, left=left, named=named, spoken=spoken
    )  # fmt: skip


def _in_mode(verdicts: tuple[Verdict, ...], around: Surroundings) -> tuple[Verdict, ...]:
    """Return the verdicts with the actions of the mode that the person chose."""
    if around.mode is None or not any(verdict.firing for verdict in verdicts):
        return verdicts
    from deia.watch.silence.modes import in_mode  # noqa: PLC0415 - most turns that are judged say nothing

    return in_mode(verdicts, around.mode())


def _stopped_anew(verdict: Verdict, artefact: Artefact, memory: Memory, call: str) -> Verdict:
    """Return the verdict of a trigger that has spoken before: it only speaks again to stop another call."""
    firing = verdict.firing
    if firing is None or not firing.told:
        return verdict
    stops = firing.action == "ask" or (firing.action == "hold" and artefact.meta.settings["hold"])
    before = sum(firing.trigger in triggers for triggers in memory.held.values())
    if stops and call not in memory.held and before < MOST_STOPPED:
        return verdict
    return verdict.but(stage="memory", detail=firing.told, firing=None)


def stopped_call(call: str, firings: Sequence[Firing]) -> tuple[str, ...]:
    """Return the print of a call if one of the firings stops it; when the call is made again, it passes."""
    return (call,) if call and any(firing.action in STOPPING for firing in firings) else ()


def _told_apart(
    verdicts: Sequence[Verdict], allowed: Collection[str], *, is_repeated: bool
) -> tuple[list[Verdict], tuple[str, ...]]:
    """Return the verdicts that fire, and the triggers that let a call pass because it was repeated or is allowed."""
    firing = [
        verdict
        for verdict in verdicts
        if verdict.firing and verdict.trigger not in allowed and not (is_repeated and verdict.firing.action == "hold")
    ]
    passed = tuple(
        verdict.trigger
        for verdict in verdicts
        if verdict not in firing
        and ((is_repeated and verdict.stage in {FIRES, "memory"}) or (verdict.firing and verdict.trigger in allowed))
    )
    return firing, passed


def _judge_others(
    artefact: Artefact, numbers: Candidates, reading: Reading, circumstances: Circumstances, escalated: list[Verdict]
) -> list[Verdict]:
    repeated = {verdict.trigger for verdict in escalated}
    candidates = {number: clauses for number, clauses in numbers.items() if number < artefact.meta.triggers}
    verdicts = judge(artefact, candidates, reading, circumstances)
    return [verdict for verdict in verdicts if verdict.trigger not in repeated]


def _shortened(artefact: Artefact, turn: Turn, numbers: Collection[int]) -> Turn:
    if len(turn.text) <= MOST_READ:
        return turn
    from deia.watch.gate.long_turns import condensed  # noqa: PLC0415 - few turns are so long

    return condensed(artefact, turn, numbers)


def _escalations(artefact: Artefact, turn: Turn, circumstances: Circumstances) -> list[Verdict]:
    if not circumstances.memory.awaits_answer:
        return []
    from deia.watch.verdict.escalation import escalations  # noqa: PLC0415 - before most turns nothing was announced

    return escalations(artefact, turn, circumstances)


def _spoken_once(
    verdicts: tuple[Verdict, ...], turn: Turn, reading: Reading, memory: Memory
) -> tuple[tuple[Verdict, ...], tuple[str, ...]]:
    """Return the verdicts, with one firing a sentence and none for a text that fired before, and the text's print."""
    if not any(verdict.firing and verdict.sentence for verdict in verdicts):
        return verdicts, ()
    from deia.watch.verdict.spoken_once import told_once  # noqa: PLC0415 - few turns say anything that fires

    return told_once(verdicts, turn, reading, memory)


def _spoken(artefact: Artefact, firing: Sequence[Verdict]) -> tuple[str, ...]:
    not_stopping = [verdict for verdict in firing if verdict.firing and verdict.firing.action not in STOPPING]
    return tuple(verdict.trigger for verdict in not_stopping if artefact.trigger(verdict.number).action in STOPPING)


def _offered(artefact: Artefact, verdicts: Sequence[Verdict], reading: Reading, memory: Memory) -> list[str]:
    """Return the triggers of the acts for which an assistant's words ask leave."""
    if not any(verdict.stage in ANNOUNCING for verdict in verdicts):
        return []
    from deia.watch.verdict.escalation import offered  # noqa: PLC0415 - as above

    return offered(artefact, verdicts, reading, memory)


def _hushed(artefact: Artefact, verdicts: tuple[Verdict, ...], memory: Memory, now: float) -> tuple[Verdict, ...]:
    """Return the verdicts, stopping those that must wait for another hour by the project's settings."""
    settings = artefact.meta.settings
    if not (settings.get("quiet") or settings.get("most_per_hour")):
        return verdicts
    from deia.watch.verdict.quiet_hours import hushed  # noqa: PLC0415 - few projects have quiet hours

    return hushed(verdicts, artefact, memory, now)


def _claim(
    artefact: Artefact, log: Log, memory: Memory, now: float, decision: Decision, *, seen: Sequence[str]
) -> list[Verdict]:
    """Write the turn to the log and return the verdicts that fire and that no other process claimed before."""
    firing, call, entry = decision.firing, decision.call, decision.left.but(seen=seen)
    if not firing:
        log.append(log_line(entry))
        return []
    claim = f"{files.process():x}.{time.perf_counter_ns():x}"
    firings = tuple(verdict.firing for verdict in firing if verdict.firing)
    injection = _injection(artefact, memory, firings)
    unclaimed = {*injection.left_out, *entry.escalated}
    entry = entry.but(
        at=now,
        fired={verdict.trigger: claim for verdict in firing if verdict.trigger not in unclaimed},
        docs=injection.documents,
        chars=len(injection.text),
        held=stopped_call(call, firings),
    )
    log.append(log_line(entry))
    after = memory_of(log)
    claims = {trigger: claimed for trigger, (_, claimed) in after.fired.items() if trigger not in memory.fired}
    if call not in memory.held:  # whoever stops a call first speaks of it, whatever other call was stopped
        stopping = {firing.trigger for firing in firings if firing.action in STOPPING}
        claims |= {trigger: claimed for trigger, claimed in after.held.get(call, {}).items() if trigger in stopping}
    return [verdict for verdict in firing if claims.get(verdict.trigger, claim) == claim]


def _injection(artefact: Artefact, memory: Memory, firings: tuple[Firing, ...]) -> Injection:
    from deia.watch.injection import URGENT, compose, has_frame  # noqa: PLC0415 - as above

    settings = artefact.meta.settings
    left = settings["conversation_chars"] - memory.chars
    least = LEAST_BUDGET if any(firing.urgency in URGENT for firing in firings) else 0
    budget = max(min(settings["injection_chars"], left), least)
    already_told = [
        firing.trigger for firing in firings if firing.action in STOPPING and firing.trigger in memory.armed
    ]
    unheard = {firing.trigger for firing in firings if any(has_frame(text, firing.trigger) for text in memory.queued)}
    firings = tuple(firing.but(told="") if firing.trigger in unheard else firing for firing in firings)
    already_told = [trigger for trigger in already_told if trigger not in unheard]
    return compose(firings, artefact.document_of, shown=memory.documents, already_told=already_told, budget=budget)
