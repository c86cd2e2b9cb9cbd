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
from deia.watch.gate import candidates
from deia.watch.memory import QUIET, RESET, FileLog, line, recall

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from deia.records import Injection
    from deia.serve.hosts.claude_code import Occasion
    from deia.watch.artefact import Artefact
    from deia.watch.watcher import Watched

HOSTS: dict[str, Any] = {"claude-code": claude_code}
DEADLINE = settings.DEFAULTS.deadline_ms / 1000  # until the compiled settings are read
MOST_INPUT = 64_000_000  # bytes; a host that sends more gets silence


def run(arguments: list[str]) -> None:
    """Answer the event on standard input for the host that the arguments name, then leave the process."""
    place = Place(arguments)
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
        place.report(TimeoutError(f"no answer within {seconds:g} s"))
        _leave(b"")

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.setitimer(_signal.ITIMER_REAL, max(seconds, 0.001))


class Place:
    """Where this hook works: which host called, which commons counts, where its files are."""

    __slots__ = ("derived", "environ", "events", "explicit", "host", "root", "state")

    def __init__(self, arguments: list[str]) -> None:
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
    numbers, seen = candidates(artefact, turn)
    waiting = _waiting(log) if occasion.carries else []
    if not numbers:
        log.append(line({"seen": seen, "delivered": len(waiting)}) if seen or waiting else QUIET)
        return adapter.write_answer(occasion, None, context=waiting) if waiting else None
    watched = _weigh(place, artefact, occasion, log, numbers, seen)
    if waiting:
        log.append(line({"delivered": len(waiting)}))
    _record(place, artefact, occasion, watched)
    if not occasion.carries and watched.injection:
        log.append(line({"queued": [watched.injection.text]}))
        return None
    hold = bool(artefact.meta["settings"]["hold"])
    answer: dict[str, Any] | None = adapter.write_answer(occasion, watched.injection, context=waiting, hold=hold)
    return answer


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


def _waiting(log: FileLog) -> list[str]:
    """Give the texts that were recognised at a moment when the host could not carry them."""
    content = log.read()
    return recall(content).queued if b'"queued"' in content else []


def _weigh(
    place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, numbers: list[int], seen: list[str]
) -> Watched:
    from deia.watch import watcher  # noqa: PLC0415 - a quiet turn needs none of the judging
    from deia.watch.mutes import muted_triggers  # noqa: PLC0415
    from deia.watch.signs import signs_around  # noqa: PLC0415

    now = time.time()
    around = watcher.Surroundings(
        now=now,
        folder=signs_around(occasion.folder),
        muted=muted_triggers(place.state, folder=occasion.folder, now=now),
    )
    assert occasion.turn is not None  # noqa: S101 - for the checker: asked by the caller
    return watcher.weigh(artefact, occasion.turn, log, around, numbers=numbers, seen=seen)


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
            "outcome": "held" if held else "shown",
        }  # fmt: skip
        place.spool("injection", fields, telemetry=telemetry)
    for verdict in watched.verdicts:
        if verdict.stage == "muted" or verdict.trigger in watched.passed:
            outcome = "muted" if verdict.stage == "muted" else "passed"
            place.spool("injection", {**common, "trigger": verdict.trigger, "outcome": outcome}, telemetry=telemetry)
