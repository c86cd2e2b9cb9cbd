"""One event of an agent host, from standard input to standard output. It never breaks a conversation.

Whatever happens it exits 0 within its deadline, with valid JSON or nothing, and spools what went wrong. The one exit
with 2 is an answer: a hold at a host that understands no other, made by that host's module on purpose. The quiet path
(no trigger passes the gate) imports only what a word lookup needs; judging is imported when something is to judge.
"""

from __future__ import annotations

import sys
import time

from deia import files, freshness
from deia.errors import ArtefactError
from deia.fast_json import dumps, loads
from deia.records import TYPE_CHECKING
from deia.serve.hooks.place import Place
from deia.watch.gate.word_gate import candidates, wait_in_vain
from deia.watch.memory.log import QUIET, RESET, FileLog, LogEntry, awaits_answer, log_line, recall
from deia.watch.turn.tool_call import command_of

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from deia.records import Turn
    from deia.serve.hosts.delivery_form import Said
    from deia.serve.hosts.event import Occasion
    from deia.watch.gate.artefact import Artefact

# What the hosts are called; the module of each is called the same. Only the called host's is imported.
HOSTS = (
    "claude-code", "codex", "copilot", "vscode", "gemini", "cursor", "opencode", "cline", "windsurf", "amp", "droid",
    "kiro", "generic",
)  # fmt: skip
OUT, REASON = 1, 2  # standard output, for JSON; standard error, for a reason that goes with exit code 2
DEADLINE = 1.0  # seconds, the default of `deadline_ms`, until the compiled settings are read
TO_DEIA = "deia:"  # how a prompt begins that may be a remark of the person to deia
STALE = b'\n{"aside":true,"stale":'  # in a conversation's log: it was told that sources changed
UNCOMPILED = STALE + b'"uncompiled"'
UNSAID = b'\n{"aside":true,"unsaid":true}\n'
MOST_INPUT = 64_000_000  # bytes; a host that sends more gets silence
PERSONS_WORD = (
    "deia {word} is the person's to say. It counts in a terminal of theirs and not in a tool call; what was stopped and"
    " why may be told to them."
)


def run(arguments: list[str]) -> None:
    """Answer the event on standard input for the host that the arguments name, then leave the process."""
    place = Place(arguments)
    answer, stream = b"", OUT
    try:
        _arm(place, DEADLINE)
        output = answer_event(place, _read_input())
        if isinstance(output, bytes):
            answer, stream = output, REASON
        elif output:
            answer = dumps(output).encode("ascii")
    except BaseException as error:  # noqa: BLE001 - the one rim: nothing may reach the host
        place.report(error)
    _leave(answer, stream)


def _leave(answer: bytes, stream: int = OUT) -> None:
    """Write the answer and go without the interpreter's own farewell, which costs 1.5 ms."""
    code = REASON if answer and stream == REASON else 0
    try:
        while answer:
            answer = answer[files.system.write(stream, answer) :]
    except OSError:
        code = 0  # the host is gone; there is nobody to tell, and a call without a reason may pass
    files.system._exit(code)  # noqa: SLF001 - the documented way out of a process


def _arm(place: Place, seconds: float) -> None:
    """Leave on time even from inside a long match. Windows has no such timer: there the patterns alone bound it."""
    if sys.platform == "win32" or not place.timed:
        return
    import _signal  # type: ignore[import-not-found]  # noqa: PLC0415 - `signal` itself costs 4 ms for its enums

    def give_up(_signal_number: int, _frame: FrameType | None) -> None:
        """Report that the time is up, and leave."""
        place.report(TimeoutError(f"no answer within {seconds:g} s"))
        _leave(b"")

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.setitimer(_signal.ITIMER_REAL, max(seconds, 0.001))


def host_module(name: str) -> Any:
    """Import the module of a host, and no other's.

    Raises:
        ValueError: nobody is called so.
    """
    if name not in HOSTS:
        raise ValueError(f"unknown host {name!r}; known are {', '.join(HOSTS)}")
    module = f"deia.serve.hosts.{name.replace('-', '_')}"
    __import__(module)
    return sys.modules[module]


def answer_event(place: Place, given: bytes) -> dict[str, Any] | bytes | None:
    """Give the answer to one event: what the host reads as JSON, or as the reason beside exit code 2, or nothing.

    Raises:
        Exception: whatever is wrong with the event or the commons; who calls this is the rim.
    """
    adapter = host_module(place.host)
    occasion: Occasion | None = adapter.read_event(loads(given.decode("utf-8", "surrogatepass")))
    if occasion is None:
        return None
    place.settle(occasion.folder)
    said = _respond(place, occasion, adapter.CARRIES)
    answer: dict[str, Any] | bytes | None = adapter.write_answer(occasion, said) if said else None
    return answer


def _read_input() -> bytes:
    parts = []
    size = 0
    while size < MOST_INPUT and (part := files.system.read(0, 1 << 20)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _respond(place: Place, occasion: Occasion, carries: dict[str, Any]) -> Said | None:
    log = FileLog(place.state, occasion.conversation)
    can: dict[str, str] = carries.get(occasion.moment, {}) if occasion.carries else {}
    if occasion.moment == "session":
        return _begin(place, occasion, log, can)
    artefact = _open(place)
    trouble = _trouble(place, artefact, log, can) if occasion.moment == "prompt" or place.trouble else ""
    if artefact is None:
        told: Said | None = _saying().trouble(can, trouble) if trouble else None
        return told
    deadline = artefact.meta.settings["deadline_ms"] / 1000
    if deadline != DEADLINE:
        _arm(place, deadline)
    if occasion.turn is None:
        return None
    if occasion.moment == "prompt" and occasion.turn.text[: len(TO_DEIA)].lower() == TO_DEIA:
        from deia.serve.hooks.remarks import answer_remark  # noqa: PLC0415 - hardly any prompt begins so

        answered: Said | None = answer_remark(place, artefact, occasion, log, can)
        if answered is not None:
            return answered
    said = _watch(place, artefact, occasion, log, carries=carries, can=can)
    also: Said | None = _saying().with_trouble(can, said, trouble) if trouble else said
    return also


def _watch(
    place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, *, carries: dict[str, Any], can: dict[str, str]
) -> Said | None:
    """Watch one turn: most are told from their words alone to concern nothing."""
    turn = occasion.turn
    assert turn is not None  # noqa: S101 - for the checker: asked by the caller
    refused = _speaks_for_the_person(place, occasion) if occasion.moment == "before_tool" else ""
    said: Said | None
    if refused:
        said = _saying().forbid(can, refused)
        return said
    numbers, seen = candidates(artefact, turn, second_gate=_holding)
    content = log.read() if occasion.moment != "stop" else b""
    waiting = recall(content).queued if b'"queued"' in content else []  # recognised when the host could carry nothing
    hold = bool(artefact.meta.settings["hold"])
    if (numbers and not wait_in_vain(artefact, numbers, content)) or awaits_answer(turn, content):
        given = {"can": can, "carries": carries, "hold": hold, "content": content, "waiting": tuple(waiting)}
        from deia.serve.hooks.judged import judged  # noqa: PLC0415 - a quiet turn needs none of the judging

        said = judged(place, artefact, occasion, log, numbers=numbers, seen=seen, given=given)
        return said
    alone = hold and "hold" in can and not any("context" in forms for forms in carries.values())
    due = waiting if alone or "context" in can else []
    if due and not _claims(occasion, log, turn):
        return None
    log.append(log_line(LogEntry(seen=seen, delivered=len(due))) if seen or due else QUIET)
    said = _saying().say(can, None, waiting=due, stops=alone) if due else None
    return said


def _holding(artefact: Artefact, turn: Turn, rows: set[int]) -> set[int]:
    """Give the rows of the gate whose phrase or pattern stands in a turn: few modules are read instead of forty."""
    from deia.watch.gate.pattern_gate import holding  # noqa: PLC0415 - most turns have no words of a phrase

    return holding(artefact, turn, rows)


def _claims(occasion: Occasion, log: FileLog, turn: Turn) -> bool:
    """Say whether a turn is this process's to speak of; another may hear the same event."""
    from deia.serve.hooks.duplicates import is_first  # noqa: PLC0415 - a quiet turn speaks of nothing

    return is_first(log, occasion.moment, occasion.mark, turn, now=time.time())


def _saying() -> Any:
    """Give the module that finds the form of an answer; a turn with nothing to say needs none."""
    from deia.serve.hosts import delivery_form  # noqa: PLC0415 - as the docstring says

    return delivery_form


def _speaks_for_the_person(place: Place, occasion: Occasion) -> str:
    """Give why a tool call is refused that would silence deia in the person's name, or the empty text."""
    assert occasion.turn is not None  # noqa: S101 - for the checker: asked by the caller
    command = command_of(occasion.turn)
    if "deia" not in command or not ("allow" in command or "mute" in command):
        return ""
    from deia.watch.silence.allow import speaks_for_the_person  # noqa: PLC0415 - hardly any call names deia

    word = speaks_for_the_person(occasion.turn)
    if word:
        telemetry = {"conversation": occasion.conversation, "change": f"a tool call would have run deia {word}"}
        place.spool("maintenance", telemetry)
    return PERSONS_WORD.format(word=word) if word else ""


def _begin(place: Place, occasion: Occasion, log: FileLog, can: dict[str, str]) -> Said | None:
    """Begin a session: forget what a compaction took out of the model's sight, and tell the person what is wrong."""
    if occasion.reset:
        log.append(log_line(LogEntry(event=RESET)))
    trouble = _trouble(place, _open(place), log, can, again=True)
    said: Said | None = _saying().trouble(can, trouble) if trouble else None
    return said


def _open(place: Place) -> Artefact | None:
    """Return the compiled triggers, or those that may stand in for them."""
    artefact: Artefact | None
    try:
        artefact = place.open(f"{place.derived}/triggers")
    except ArtefactError as error:
        from deia.serve.hooks.fallback import stand_in  # noqa: PLC0415 - hardly any commons is not compiled

        artefact = stand_in(place, error.message)
    return artefact


def _trouble(place: Place, artefact: Artefact | None, log: FileLog, can: dict[str, str], *, again: bool = False) -> str:
    """Spool what is wrong with the compiled triggers and give it; they are used all the same, the last good ones.

    Once a conversation, unless it is told `again`; what nobody could be told counts for nothing.
    """
    trouble = place.trouble or _trouble_of_sources(place, artefact)
    content = log.read() if trouble and not again else b""
    if not trouble or (UNCOMPILED if place.trouble else STALE) in content:
        return ""
    told = "note" in can or "context" in can
    if told:
        log.append(log_line(LogEntry(aside=True, stale="uncompiled" if place.trouble else trouble)))
    if told or UNSAID not in content:
        place.spool("error", {"error": trouble, "where": place.root})
    if not told:
        log.append(UNSAID)
    return trouble


def _trouble_of_sources(place: Place, artefact: Artefact | None) -> str:
    """Give what is wrong with the files that the triggers were compiled from, or the empty text."""
    found = freshness.changed(place.derived, place.root, freshness.TRIGGERS)
    if found:
        return f"{found} changed since the triggers were compiled. Type: deia compile"
    standing = ", ".join(artefact.meta.standing) if artefact is not None else ""
    return f"{standing} has errors; its last good version counts. Type: deia lint" if standing else ""
