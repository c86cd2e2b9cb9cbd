"""One event of an agent host, from standard input to standard output. It never breaks a conversation.

Whatever happens it exits 0 within its deadline, with valid JSON or nothing, and spools what went wrong. The quiet path
(no trigger passes the gate) imports only what a word lookup needs; judging is imported when something is to judge.
"""

from __future__ import annotations

import sys
import time

from deia import files, freshness, settings
from deia.errors import ArtefactError
from deia.fast_json import dumps, loads
from deia.records import TYPE_CHECKING
from deia.serve.hosts import claude_code
from deia.watch.artefact import open_artefact
from deia.watch.gate import candidates, command_of
from deia.watch.memory import QUIET, RESET, FileLog, awaits_answer, line, recall

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from deia.records import Injection
    from deia.serve.hosts.claude_code import Occasion
    from deia.watch.artefact import Artefact
    from deia.watch.watcher import Watched

HOSTS: dict[str, Any] = {"claude-code": claude_code}
# What judging needs, each after what it imports. A test holds this list against what it really imports.
JUDGING = (
    "watch.allow watch.mutes watch.condense watch.answers watch.command watch.git_lines watch.globs watch.places"
    " watch.commands watch.databases watch.languages watch.regions watch.phrases watch.regexes watch.words watch.bash"
    " watch.expansion watch.programs watch.inert watch.prefixes watch.feeders watch.windows watch.wrappers watch.shell"
    " watch.sql watch.stance_form watch.stance_model watch.stance watch.confirm watch.marks watch.writing watch.judge"
    " watch.escalation watch.inject watch.mildness watch.running watch.speech watch.inline watch.reading watch.watcher"
    " watch.exceptions watch.signs"
)
DEADLINE = settings.DEFAULTS.deadline_ms / 1000  # until the compiled settings are read
MOST_INPUT = 64_000_000  # bytes; a host that sends more gets silence
PERSONS_WORD = (
    "deia {word} is the person's to say. It counts in a terminal of theirs and not in a tool call; what was stopped and"
    " why may be told to them."
)


def run(arguments: list[str], load: Callable[[str], object] = len) -> None:
    """Answer the event on standard input for the host that the arguments name, then leave the process.

    `load` may load modules ahead of their import, faster than it; what it leaves out is imported.
    """
    place = Place(arguments, load)
    answer = b""
    try:
        _arm(place, DEADLINE)
        answer = _answer(place)
    except BaseException as error:  # noqa: BLE001 - the one rim: nothing may reach the host
        place.report(error)
    _leave(answer)


def _leave(answer: bytes) -> None:
    """Write the answer and go without the interpreter's own farewell, which costs 1.5 ms."""
    try:
        while answer:
            answer = answer[files.system.write(1, answer) :]
    except OSError:
        pass  # the host is gone; there is nobody to tell
    files.system._exit(0)  # noqa: SLF001 - the documented way out of a process


def _arm(place: Place, seconds: float) -> None:
    """Leave on time even from inside a long match. Windows has no such timer: there the patterns alone bound it."""
    if sys.platform == "win32":
        return
    import _signal  # type: ignore[import-not-found]  # noqa: PLC0415 - `signal` itself costs 4 ms for its enums

    def give_up(_signal_number: int, _frame: FrameType | None) -> None:
        """Report that the time is up, and leave."""
        place.report(TimeoutError(f"no answer within {seconds:g} s"))
        _leave(b"")

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.setitimer(_signal.ITIMER_REAL, max(seconds, 0.001))


class Place:
    """Where this hook works: which host called, which commons counts, where its files are."""

    __slots__ = ("derived", "environ", "events", "explicit", "host", "load", "root", "state")

    def __init__(self, arguments: list[str], load: Callable[[str], object] = len) -> None:
        self.load = load
        self.environ = files.environment()
        self.host = arguments[0] if arguments else ""
        self.explicit = arguments[2] if len(arguments) > 2 and arguments[1] == "--commons" else ""
        self.state = settings.state_folder(self.environ)
        self.root = self.derived = ""
        self.events = f"{self.state}/starter/events"

    def settle(self, folder: str) -> None:
        """Find the commons for somebody working in `folder`."""
        self.root = settings.find_commons(folder, environ=self.environ, explicit=self.explicit)
        self.derived = settings.derived_folder(self.root, self.environ)
        self.events = settings.events_folder(self.root, self.environ)

    def spool(self, event: str, fields: dict[str, Any], *, telemetry: str = "full") -> None:
        """Write an event to the ledger."""
        from deia import spool  # noqa: PLC0415 - only a turn that leaves something behind needs it

        chosen = self.environ.get("DEIA_TELEMETRY") or telemetry
        spool.append(self.events, event, {"host": self.host, **fields}, telemetry=chosen)

    def report(self, error: BaseException) -> None:
        """Spool what went wrong, with the place in deia where it did; a failing report is given up."""
        try:
            frame = error.__traceback__
            where = ""
            while frame is not None:
                where = f"{frame.tb_frame.f_code.co_filename.rpartition('/')[2]}:{frame.tb_lineno}"
                frame = frame.tb_next
            self.spool("error", {"error": f"{type(error).__name__}: {error}"[:500], "where": where})
        except BaseException:  # noqa: BLE001, S110 - the rim of the rim
            pass


def _answer(place: Place) -> bytes:
    adapter = HOSTS.get(place.host)
    if adapter is None:
        raise ValueError(f"unknown host {place.host!r}; known are {', '.join(HOSTS)}")
    event = loads(_read_input().decode("utf-8", "surrogatepass"))
    occasion: Occasion | None = adapter.read_event(event)
    if occasion is None:
        return b""
    place.settle(occasion.folder)
    output = _respond(place, occasion, adapter)
    return dumps(output).encode("ascii") if output else b""


def _read_input() -> bytes:
    parts = []
    size = 0
    while size < MOST_INPUT and (part := files.system.read(0, 1 << 20)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _respond(place: Place, occasion: Occasion, adapter: Any) -> dict[str, Any] | None:
    log = FileLog(place.state, occasion.conversation)
    if occasion.moment == "session":
        return _begin(place, occasion, log, adapter)
    artefact = _open(place)
    deadline = artefact.meta["settings"]["deadline_ms"] / 1000
    if deadline != DEADLINE:
        _arm(place, deadline)
    if occasion.moment == "prompt":
        _tell_if_stale(place)
    turn = occasion.turn
    if turn is None:
        return None
    refused = _speaks_for_the_person(place, occasion) if occasion.moment == "before_tool" else ""
    if refused:
        answer: dict[str, Any] = adapter.refusal(occasion, refused)
        return answer
    numbers, seen = candidates(artefact, turn)
    content = log.read() if occasion.carries else b""
    waiting = recall(content).queued if b'"queued"' in content else []  # recognised when the host could carry nothing
    if not numbers and not awaits_answer(turn, content):
        log.append(line({"seen": seen, "delivered": len(waiting)}) if seen or waiting else QUIET)
        return adapter.write_answer(occasion, None, context=waiting) if waiting else None
    watched = _weigh(place, artefact, occasion, log, numbers, seen)
    if waiting:
        log.append(line({"aside": True, "delivered": len(waiting)}))
    _record(place, artefact, occasion, watched)
    if not occasion.carries and watched.injection:
        log.append(line({"queued": [watched.injection.text]}))
        return None
    hold = bool(artefact.meta["settings"]["hold"])
    code = _code(place, occasion, watched, hold=hold)
    return _written(adapter, occasion, watched.injection, context=waiting, hold=hold, code=code)


def _written(adapter: Any, occasion: Occasion, injection: Injection | None, **more: Any) -> dict[str, Any] | None:
    answer: dict[str, Any] | None = adapter.write_answer(occasion, injection, **more)
    return answer


def _speaks_for_the_person(place: Place, occasion: Occasion) -> str:
    """Give why a tool call is refused that would silence deia in the person's name, or the empty text."""
    assert occasion.turn is not None  # noqa: S101 - for the checker: asked by the caller
    command = command_of(occasion.turn)
    if "deia" not in command or not ("allow" in command or "mute" in command):
        return ""
    from deia.watch.allow import speaks_for_the_person  # noqa: PLC0415 - hardly any call names deia

    word = speaks_for_the_person(occasion.turn)
    if word:
        telemetry = {"conversation": occasion.conversation, "change": f"a tool call would have run deia {word}"}
        place.spool("maintenance", telemetry)
    return PERSONS_WORD.format(word=word) if word else ""


def _code(place: Place, occasion: Occasion, watched: Watched, *, hold: bool) -> str:
    """Make the code with which the person lets pass what is stopped here."""
    stops = {"ask", "hold"} if hold else {"ask"}
    spoken = watched.injection.triggers if watched.injection else ()
    stopping = [one.trigger for one in watched.firings if one.action in stops and one.trigger in spoken]
    if occasion.moment != "before_tool" or not stopping:
        return ""
    from deia.watch import allow  # noqa: PLC0415 - only a call that is stopped needs it

    return allow.offer(place.state, occasion.conversation, stopping, now=time.time())


def _begin(place: Place, occasion: Occasion, log: FileLog, adapter: Any) -> dict[str, Any] | None:
    """Begin a session: forget what a compaction took out of the model's sight, and tell the person what is wrong."""
    if occasion.reset:
        log.append(line({"event": RESET}))
    try:
        _open(place)
        trouble = _tell_if_stale(place)
    except ArtefactError as error:
        place.report(error)
        trouble = str(error)
    return adapter.write_answer(occasion, None, note=f"deia: {trouble}") if trouble else None


def _open(place: Place) -> Artefact:
    """Open the compiled triggers; what another installation made counts only while it fits its sources."""
    artefact = open_artefact(f"{place.derived}/triggers")
    if not freshness.made_by(place.derived, freshness.maker(place.state)):
        found = freshness.changed(place.derived, place.root, freshness.TRIGGERS)
        if found:
            raise ArtefactError(f"compiled by another installation and out of date ({found})", fix="Type: deia compile")
    return artefact


def _tell_if_stale(place: Place) -> str:
    """Spool that the compiled triggers are older than their sources; they are used all the same, the last good ones."""
    found = freshness.changed(place.derived, place.root, freshness.TRIGGERS)
    if not found:
        return ""
    trouble = f"{found} changed since the triggers were compiled. Type: deia compile"
    place.spool("error", {"error": trouble, "where": place.root})
    return trouble


def _weigh(
    place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, numbers: list[int], seen: list[str]
) -> Watched:
    place.load(JUDGING)
    from deia.watch import allow, mutes, watcher  # noqa: PLC0415 - a quiet turn needs none of the judging
    from deia.watch.exceptions import Touched, excepted  # noqa: PLC0415
    from deia.watch.signs import files_around, signs_around  # noqa: PLC0415

    assert occasion.turn is not None  # noqa: S101 - for the checker: asked by the caller
    now = time.time()
    touched = Touched(occasion.turn, occasion.folder)
    muted = mutes.muted_triggers(place.state, folder=occasion.folder, now=now, touched=touched)
    exceptions = artefact.meta["settings"].get("exceptions") or {}
    leaves = allow.allowed(place.state, occasion.conversation, now=now)
    around = watcher.Surroundings(
        now=now,
        folder=signs_around(occasion.folder),
        exists=files_around(occasion.folder),
        muted=muted | excepted(exceptions, touched, root=place.root),
        allowed=frozenset(trigger for leave in leaves for trigger in leave.triggers),
    )
    watched = watcher.weigh(artefact, occasion.turn, log, around, numbers=numbers, seen=seen)
    allow.spend(place.state, leaves, watched.passed)
    silenced = {one.trigger for one in watched.verdicts if one.stage == "muted"}
    mutes.use_up(place.state, muted & silenced, folder=occasion.folder, now=now, touched=touched)
    return watched


def _record(place: Place, artefact: Artefact, occasion: Occasion, watched: Watched) -> None:
    telemetry = artefact.meta["settings"]["telemetry"]
    common = {"conversation": occasion.conversation}
    injection: Injection | None = watched.injection
    for firing in watched.firings:
        held = firing.action == "hold" and occasion.moment == "before_tool" and artefact.meta["settings"]["hold"]
        documents = [reference.id for reference in firing.documents]
        fields = {
            **common, "trigger": firing.trigger, "because": firing.because, "docs": documents,
            "chars": len(injection.text) if injection else 0, "action": firing.action,
            "outcome": _outcome(firing.trigger, watched, held=held),
        }  # fmt: skip
        place.spool("injection", fields, telemetry=telemetry)
    for verdict in watched.verdicts:
        if verdict.stage == "muted" or verdict.trigger in watched.passed:
            outcome = "muted" if verdict.stage == "muted" else "passed"
            place.spool("injection", {**common, "trigger": verdict.trigger, "outcome": outcome}, telemetry=telemetry)


def _outcome(trigger: str, watched: Watched, *, held: bool) -> str:
    if trigger in watched.left_out:
        return "over_budget"
    return "held" if held else "shown"
