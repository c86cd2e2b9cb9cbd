"""Answers one event of an agent host, from standard input to standard output. It never breaks a conversation.

Whatever happens, it exits with 0 within its deadline, prints valid JSON or nothing, and writes errors to the ledger.
The only other exit code, 2, is an answer: a hold at a host that understands nothing else. A quiet turn, in which no
trigger passes the gate, imports only what a word lookup needs; judging is imported if there is something to judge.
"""

from __future__ import annotations

import sys
import time

from deia import files, freshness
from deia.errors import ArtefactError
from deia.fast_json import dumps, loads
from deia.folders import spare_folders
from deia.records import TYPE_CHECKING, Turn
from deia.serve.hooks.place import Place
from deia.serve.hosts.event import COMPACTION, Answer, Occasion
from deia.watch.gate.word_gate import candidates, wait_in_vain
from deia.watch.memory.log import QUIET, RESET, FileLog, LogEntry, log_line
from deia.watch.turn.tool_call import may_run_files, may_weaken

if TYPE_CHECKING:
    from types import FrameType, ModuleType
    from typing import Any

    from deia.serve.hosts.delivery_form import Said
    from deia.serve.hosts.event import Carries, Forms, Host
    from deia.watch.gate.artefact import Artefact

# The names of the hosts, which are also those of their modules. Only the calling host's module is imported.
HOSTS = (
    "claude-code", "codex", "copilot", "vscode", "gemini", "cursor", "opencode", "cline", "windsurf", "amp", "droid",
    "kiro", "qwen", "generic",
)  # fmt: skip
STDOUT, STDERR = 1, 2
REASON_CODE = 2  # the exit code that goes with a reason on standard error
HALF_INSTALLED = 70  # tells the launcher, which exits with 0, that modules of deia are missing or of another version
DEADLINE = 1.0  # seconds, the default of `deadline_ms`, until the compiled settings are read
BETWEEN_TURNS = ("session", COMPACTION)
GUARDING = ("prompt", "before_tool")  # moments before which changed triggers are compiled
TO_DEIA = "deia:"  # how a prompt begins that may be a remark of the person to deia
NOT_TRUSTED = (
    "this folder has a commons that you have not trusted: its settings do not count, and its lessons can only add"
    " notes that name where they come from. To trust it, type in a terminal: deia trust"
)
CHANGED = "changed since the triggers were compiled; "
SEEN_TO = f"{CHANGED}it is being compiled now"
BEGINNINGS = frozenset(("session", "prompt"))  # the moments at which trouble is reported, where a host carries them
UNSAID = b'\n{"aside":true,"unsaid":true}\n'
MOST_FAULTS = 500  # characters about trigger files with errors
PORTION = 1 << 16  # bytes that a pipe holds
MOST_INPUT = 64_000_000  # bytes; a host that sends more gets no answer


def run(arguments: list[str]) -> None:
    """Answer the event on standard input for the host that the arguments name, then end the process."""
    place = Place(arguments)
    answer, stream = b"", STDOUT
    try:
        _arm(place, DEADLINE)
        output = answer_event(place, _read_input())
        if isinstance(output, bytes):
            answer, stream = output, STDERR
        elif output:
            answer = dumps(output).encode("ascii")
    except BaseException as error:  # noqa: BLE001 - nothing may reach the host
        place.report(error)
        if isinstance(error, ImportError) and "launched" in sys._xoptions:  # noqa: SLF001 - the documented place
            sys.exit(HALF_INSTALLED)
    _leave(answer, stream)


def _leave(answer: bytes, stream: int = STDOUT) -> None:
    """Write the answer and exit without the interpreter's cleanup, which takes 1.5 ms."""
    code = REASON_CODE if answer and stream == STDERR else 0
    try:
        while answer:
            answer = answer[files.system.write(stream, answer) :]
    except OSError:
        code = 0  # the host is gone, and a call must not be stopped without a reason
    files.system._exit(code)  # noqa: SLF001 - the documented way to end a process


def _arm(place: Place, seconds: float) -> None:
    """Set a timer that ends the process even inside a long match. Windows has none; only the patterns are bounded."""
    if sys.platform == "win32" or not place.timed:
        return
    import _signal  # type: ignore[import-not-found]  # noqa: PLC0415 - `signal` itself costs 4 ms for its enums

    def give_up(_signal_number: int, _frame: FrameType | None) -> None:
        """Report that the time is up, and exit."""
        place.report(TimeoutError(f"no answer within {seconds:g} s"))
        _leave(b"")

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.setitimer(_signal.ITIMER_REAL, max(seconds, 0.001))


def host_module(name: str) -> Host:
    """Import and return the module of a host, and no other host's; raise ValueError if there is no such host."""
    if name not in HOSTS:
        raise ValueError(f"unknown host {name!r}; known are {', '.join(HOSTS)}")
    path = f"deia.serve.hosts.{name.replace('-', '_')}"
    __import__(path)
    module: Any = sys.modules[path]
    host: Host = module
    return host


def answer_event(place: Place, data: bytes) -> Answer:
    """Return the answer to one event: what the host reads as JSON, or a reason for exit code 2, or nothing."""
    host = host_module(place.host)
    occasion = host.read_event(loads(data.decode("utf-8", "surrogatepass")))
    if occasion is None:
        return None
    place.settle(occasion.folder)
    message = respond(place, occasion, host.CARRIES)
    return host.write_answer(occasion, message) if message else None


def _read_input() -> bytes:
    parts = []
    size = 0
    while size < MOST_INPUT and (part := files.system.read(0, PORTION)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def respond(place: Place, occasion: Occasion, carries: Carries) -> Said | None:
    """Return what to say about an event, or None."""
    log = FileLog(place.state, occasion.conversation, spare=spare_folders(place.environ))
    can: Forms = carries.get(occasion.moment, {}) if occasion.carries else {}
    if occasion.reset:
        log.append(log_line(LogEntry(event=RESET)))
    if occasion.moment in BETWEEN_TURNS:
        return _begin(place, log, can, occasion.folder) if occasion.moment != COMPACTION else None
    message: Said | None
    reason = _refusal(place, occasion) if occasion.moment == "before_tool" else ""
    if reason:  # before anything is read that a project could have written
        message = _forms().forbid(can, reason)
        return message
    artefact = _open(place)
    if place.trouble and place.trusted and place.timed and occasion.moment in GUARDING:
        artefact = _first_compiled(place, artefact)
    if artefact is None:
        trouble = _trouble(place, None, log, can)
        message = _forms().trouble(can, trouble) if trouble else None
        return message
    return _respond_with(place, artefact, occasion, log, can=can, carries=carries)


def _respond_with(
    place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, *, can: Forms, carries: Carries
) -> Said | None:
    """Return what to say about a turn with the compiled triggers at hand, and about what is wrong with them."""
    deadline = artefact.meta.settings["deadline_ms"] / 1000
    if deadline != DEADLINE:
        _arm(place, deadline)
    if occasion.moment == "prompt" and not (place.trouble or place.is_fresh):  # a prompt checks all sources anyway
        place.is_fresh = not freshness.changed(place.derived, place.root, freshness.TRIGGERS)
    if occasion.moment in GUARDING and place.timed and not (place.trouble or place.is_fresh):
        artefact = _renewed(place, artefact)
    trouble = place.pending
    may_report = occasion.moment == "prompt" or place.trouble or ("context" in can and BEGINNINGS.isdisjoint(carries))
    may_report = may_report or (
        "note" in can and place.trusted and bool(artefact.meta.faults)
    )  # broken triggers, which do not guard, are reported at once
    if not trouble and may_report:
        trouble = _trouble(place, artefact, log, can)
    turn = occasion.turn
    if turn is None:
        return None
    if occasion.moment == "prompt" and turn.text[: len(TO_DEIA)].lower() == TO_DEIA:
        from deia.serve.hooks.remarks import answer_remark  # noqa: PLC0415 - hardly any prompt begins so

        message: Said | None = answer_remark(place, artefact, occasion, log, can)
        if message is not None:
            return message
    message, is_ours = _watch(place, artefact, occasion, turn, log, can=can, carries=carries)
    topics = artefact.meta.settings.get("offered")
    if topics and message is None and occasion.moment == "prompt" and "note" in can:
        is_ours = _claims(occasion, log, turn) if is_ours is None else is_ours
        if is_ours:
            from deia.serve.hooks.offers import offer  # noqa: PLC0415 - by default nothing is offered

            message = offer(topics, turn.text, log)
    return _forms().with_trouble(can, message, trouble) if trouble else message


def _watch(
    place: Place, artefact: Artefact, occasion: Occasion, turn: Turn, log: FileLog, *, can: Forms, carries: Carries
) -> tuple[Said | None, bool | None]:
    """Return what to say about one turn, and whether this process claimed the event; None if nobody had to.

    The words of most turns match no trigger, so they need no judging.
    """
    message: Said | None
    numbers, seen = candidates(artefact, turn, second_gate=_matching_rows)
    if may_run_files(turn):
        from deia.serve.hooks.run_files import with_run_files  # noqa: PLC0415 - most calls run no file

        widened = with_run_files(artefact, turn, occasion.folder, has_candidates=bool(numbers))
        if widened is not turn:
            turn, occasion = widened, occasion.but(turn=widened)
            numbers, seen = candidates(artefact, turn, second_gate=_matching_rows)
    content = log.read() if occasion.moment != "stop" else b""
    # The texts that the host could not carry earlier.
    waiting = _memory().recall(content).queued if b'"queued"' in content else []
    awaits_answer = b'"offered"' in content and _memory().awaits_answer(turn, content)
    if (numbers and not wait_in_vain(artefact, numbers, content)) or awaits_answer:
        if not _claims(occasion, log, turn):
            return None, False
        from deia.serve.hooks.judged import judged  # noqa: PLC0415 - a quiet turn needs none of the judging

        message = judged(
            place, artefact, occasion, log, numbers=numbers, seen=seen, can=can, carries=carries, content=content,
            waiting=tuple(waiting),
        )  # fmt: skip
        return message, True
    due = waiting if "context" in can else []
    if due and not _claims(occasion, log, turn):
        return None, False
    log.append(log_line(LogEntry(seen=seen, delivered=len(due))) if seen or due else QUIET)
    message = _forms().say(can, None, waiting=due) if due else None
    return message, True if due else None


def _matching_rows(artefact: Artefact, turn: Turn, rows: set[int]) -> set[int]:
    """Return the rows of the gate whose phrase or pattern occurs in a turn."""
    from deia.watch.gate.pattern_gate import holding  # noqa: PLC0415 - most turns have no words of a phrase

    return holding(artefact, turn, rows)


def _claims(occasion: Occasion, log: FileLog, turn: Turn) -> bool:
    """Claim an event for this process; return whether it was the first, since others may get the same event."""
    from deia.serve.hooks.duplicates import is_first  # noqa: PLC0415 - after a quiet turn nothing is said

    return is_first(log, occasion.moment, occasion.mark, turn, now=time.time())


def _forms() -> ModuleType:
    """Return the module that chooses the form of an answer; if nothing is said, it is not needed."""
    from deia.serve.hosts import delivery_form  # noqa: PLC0415 - as the docstring says

    return delivery_form


def _memory() -> ModuleType:
    """Return the module that reads a conversation's log; most logs hold nothing that a quiet turn needs."""
    from deia.watch.memory import recall  # noqa: PLC0415 - as the docstring says

    return recall


def _refusal(place: Place, occasion: Occasion) -> str:
    """Return why a tool call that would weaken deia in the person's name is refused, or ""; no setting lifts this."""
    turn = occasion.turn
    if turn is None or not may_weaken(turn, occasion.folder, state=place.state):
        return ""
    from deia.watch.silence.self_protection import refusal  # noqa: PLC0415 - hardly any call names deia or its places

    reason = refusal(turn, folder=occasion.folder, environ=place.environ, state=place.state)
    if reason:
        change = f"a tool call was refused: {reason}"
        place.spool("maintenance", {"conversation": occasion.conversation, "change": change})
    return reason


def _begin(place: Place, log: FileLog, can: Forms, folder: str) -> Said | None:
    """Begin a session: tell the person what is wrong, and what the host now starts for this project."""
    from deia.serve.hooks.server_pins import changed_servers  # noqa: PLC0415 - only a session's beginning asks

    artefact = _open(place)
    trouble = _trouble(place, artefact, log, can, again=True)
    trouble = ". ".join(
        filter(None, (_mode_told(place), changed_servers(folder, place.state), _weakened(place, artefact), trouble))
    )
    message: Said | None = _forms().trouble(can, trouble) if trouble else None
    return message


def _mode_told(place: Place) -> str:
    """Return a sentence about deia's mode, or "" if it is the standard one."""
    if not files.exists(f"{place.state}/mode"):
        return ""
    from deia.watch.silence.modes import told  # noqa: PLC0415 - few people choose a mode

    mode: str = told(place.state)
    return mode


def _weakened(place: Place, artefact: Artefact | None) -> str:
    """Return why this folder's commons counts less than it says, or weakens what the person installed; or ""."""
    if not place.trusted:
        return NOT_TRUSTED
    settings = ", ".join(artefact.meta.settings.get("weakened") or ()) if artefact is not None else ""
    return f"settings of this project weaken deia: {settings[: freshness.MOST_SHOWN]}" if settings else ""


def _open(place: Place) -> Artefact | None:
    """Return the compiled triggers or a substitute."""
    artefact: Artefact | None
    try:
        artefact = place.open(f"{place.derived}/triggers")
    except ArtefactError as error:
        from deia.serve.hooks.fallback import stand_in  # noqa: PLC0415 - hardly any commons is not compiled

        artefact = stand_in(place, error.message)
    return artefact


def _first_compiled(place: Place, substitute: Artefact | None) -> Artefact | None:
    """Wait for a compile that was just started; return its triggers, or the substitute if it takes too long."""
    from deia.serve.hooks.fallback import deadline_of  # noqa: PLC0415 - hardly any commons is not compiled
    from deia.serve.hooks.renewal import first_compiled  # noqa: PLC0415 - likewise

    seconds = deadline_of(place, DEADLINE)
    _arm(place, seconds)
    artefact: Artefact | None = first_compiled(place, seconds) or substitute
    _arm(place, seconds)  # as in `_renewed`
    return artefact


def _renewed(place: Place, artefact: Artefact) -> Artefact:
    """Return the compiled triggers, compiled anew if the project's own changed."""
    # A commons that is not trusted holds nothing, and could make every call wait by files that change all the time.
    changed = freshness.changed(place.derived, place.root, freshness.OWN) if place.trusted else ""
    if not changed:
        return artefact
    from deia.serve.hooks.renewal import renewed  # noqa: PLC0415 - hardly any call follows a change of triggers

    triggers: Artefact = renewed(place, artefact, changed)
    _arm(place, triggers.meta.settings["deadline_ms"] / 1000)  # waiting must not cost the time that judging needs
    return triggers


def _trouble(place: Place, artefact: Artefact | None, log: FileLog, can: Forms, *, again: bool = False) -> str:
    """Report and return what is wrong with the compiled triggers; the last good ones are used meanwhile."""
    # Once per conversation and fault, unless `again`; a report that the host could not carry does not count.
    trouble = place.trouble or _trouble_of_sources(place, artefact)
    content = log.read() if trouble and not again else b""
    line = log_line(LogEntry(aside=True, stale="uncompiled" if place.trouble else trouble.partition("; ")[0]))
    if not trouble or line.strip() in content:
        return ""
    reported = "note" in can or "context" in can
    if reported:
        log.append(line)
    if reported or UNSAID not in content:
        change = {"change": "the triggers are compiled again, since a source changed"}
        wrong = {"error": trouble, "where": place.root}
        place.spool(*(("maintenance", change) if SEEN_TO in trouble else ("error", wrong)))
    if not reported:
        log.append(UNSAID)
    return trouble


def _trouble_of_sources(place: Place, artefact: Artefact | None) -> str:
    """Return what is wrong with the files that the triggers were compiled from, or ""."""
    # The files of an untrusted commons are not named: their names are somebody else's words.
    changed = "" if place.is_fresh else freshness.changed(place.derived, place.root, freshness.TRIGGERS)
    if changed:
        from deia.serve.hooks.fallback import FIX, STARTED, start_compile  # noqa: PLC0415 - as in `_renewed`

        is_started = start_compile(place.state, place.root, [place.root], why=changed)
        remedy = f"{STARTED}. {FIX}" if is_started else "type: deia compile"
        return f"{changed if place.trusted else 'its files'} {CHANGED}{remedy}"
    if not place.trusted:
        return ""
    faults = " ".join(artefact.meta.faults) if artefact is not None else ""
    return f"{faults[:MOST_FAULTS]} Type: deia lint" if faults else ""
