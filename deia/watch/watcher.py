"""One turn watched from gate to injection, with the conversation's memory kept; the hook and the Librarian call this.

Reading and appending the log is the only effect. Of several processes that see the same trigger fire at once, the one
whose line stands first in the log speaks; the others stay silent.
"""

from __future__ import annotations

import time

from deia import files
from deia.records import TYPE_CHECKING, Injection, Record
from deia.watch.condense import condensed
from deia.watch.gate import candidates, command_of
from deia.watch.inject import compose
from deia.watch.judge import FIRES, Circumstances, judge
from deia.watch.memory import QUIET, fingerprint, line, recall
from deia.watch.reading import Reading
from deia.watch.regexes import trust

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from deia.records import Firing, Turn
    from deia.watch.artefact import Artefact
    from deia.watch.judge import Verdict
    from deia.watch.memory import FileLog, HeldLog, Memory

LEAST_BUDGET = 1200  # characters that a critical injection gets even when the conversation's budget is spent


class Surroundings(Record):
    """What the rim knows besides the turn: clock, folder, mutes, and whether a hold is possible here."""

    now: float
    folder: Any = None
    muted: frozenset[str] = frozenset()


class Watched(Record):
    """What came of a turn."""

    verdicts: tuple[Verdict, ...] = ()
    firings: tuple[Firing, ...] = ()
    injection: Injection | None = None
    passed: tuple[str, ...] = ()  # triggers whose held call came again and passes now


class Decided(Record):
    """What a turn comes to, before anybody remembers it."""

    verdicts: tuple[Verdict, ...]
    firing: list[Verdict]  # those that fire, the most urgent first
    passed: tuple[str, ...]
    call: str  # what tells the call, "" where the turn is none


NOTHING = Watched()


def watch(artefact: Artefact, turn: Turn, log: FileLog | HeldLog, look_around: Callable[[], Surroundings]) -> Watched:
    """Watch one turn: judge it, remember it, and give what fired with the text to inject.

    `look_around` is asked only when there is something to judge, since it may have to read files.
    """
    numbers, seen = candidates(artefact, turn)
    if not numbers:
        log.append(line({"seen": seen}) if seen else QUIET)
        return NOTHING
    return weigh(artefact, turn, log, look_around(), numbers=numbers, seen=seen)


def weigh(
    artefact: Artefact,
    turn: Turn,
    log: FileLog | HeldLog,
    around: Surroundings,
    *,
    numbers: Collection[int],
    seen: Sequence[str],
) -> Watched:
    """Judge what the gate let through and remember the turn."""
    memory = recall(log.read())
    judged = decide(artefact, turn, memory, around, numbers=numbers, seen=seen)
    won = _claim(artefact, log, memory, around.now, judged.firing, seen=seen, call=judged.call)
    firings = tuple(one.firing for one in won if one.firing)
    injection = _injection(artefact, memory, firings) if firings else None
    return Watched(verdicts=judged.verdicts, firings=firings, injection=injection, passed=judged.passed)


def decide(
    artefact: Artefact,
    turn: Turn,
    memory: Memory,
    around: Surroundings,
    *,
    numbers: Collection[int],
    seen: Sequence[str],
) -> Decided:
    """Judge what the gate let through against what the conversation has seen; nothing is remembered."""
    trust(artefact.meta["regex"])
    call = call_print(turn)
    about = Circumstances(
        memory=memory, seen=tuple(seen), folder=around.folder, muted=around.muted, now=around.now,
        recent_turns=artefact.meta["settings"]["recent_turns"],
    )  # fmt: skip
    verdicts = judge(artefact, numbers, Reading(condensed(artefact, turn, numbers)), about)
    repeated = call in memory.held
    firing = [one for one in verdicts if one.firing and not (repeated and one.firing.action == "hold")]
    passed = tuple(one.trigger for one in verdicts if repeated and one.stage in {FIRES, "memory"})
    return Decided(verdicts=verdicts, firing=firing, passed=passed, call=call)


def _claim(
    artefact: Artefact, log: FileLog | HeldLog, memory: Memory, now: float, firing: list[Verdict],
    *, seen: Sequence[str], call: str,
) -> list[Verdict]:  # fmt: skip
    """Write the turn into the log and give the firings that are ours: those no other process claimed before."""
    if not firing:
        log.append(line({"seen": seen}) if seen else QUIET)
        return []
    claim = f"{files.process():x}.{time.perf_counter_ns():x}"
    injection = _injection(artefact, memory, tuple(one.firing for one in firing if one.firing))
    held = [call] if any(one.firing and one.firing.action == "hold" for one in firing) and call else []
    entry = {
        "at": now, "fired": dict.fromkeys([one.trigger for one in firing], claim), "seen": list(seen),
        "docs": list(injection.documents), "chars": len(injection.text), "held": held,
    }  # fmt: skip
    log.append(line(entry))
    after = recall(log.read())
    known = memory.fired
    return [one for one in firing if one.trigger in known or after.fired.get(one.trigger, (0.0, claim))[1] == claim]


def _injection(artefact: Artefact, memory: Memory, firings: tuple[Firing, ...]) -> Injection:
    settings = artefact.meta["settings"]
    left = settings["conversation_chars"] - memory.chars
    budget = max(min(settings["injection_chars"], left), LEAST_BUDGET)
    return compose(firings, artefact.document_of, shown=memory.documents, budget=budget)


def call_print(turn: Turn) -> str:
    """Give what tells one tool call from another, so that the same call is known when it comes again."""
    if turn.role != "tool_call":
        return ""
    text = command_of(turn) or repr(sorted((turn.tool_input or {}).items(), key=str))
    return f"{turn.tool}:{len(text):x}-{fingerprint(text):x}"
