"""The memory of a conversation, read from its log: which triggers fired, what was injected, what was named."""

from __future__ import annotations

from deia.fast_json import loads
from deia.records import TYPE_CHECKING, Turn
from deia.watch.memory.log import QUIET, RESET, FileLog, LogEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

ASIDE = (b'{"queued"', b'{"aside"')  # beginnings of lines that belong to the turn before them
CLAIM = b'{"aside":true,"once"'  # beginning of the lines by which processes claim events; memory needs nothing of them
SEEN = b'{"seen"'  # beginning of a line that may hold nothing else
MOST_ANSWER = 160  # characters of a yes; a longer answer says more than yes
ANSWERED_TOOLS = frozenset(("exitplanmode", "exit_plan_mode", "askuserquestion", "ask_user"))  # a person answers them


class Memory:
    """What a conversation's log says, as the next turn needs it."""

    __slots__ = (
        "_seen", "_unread", "armed", "chars", "documents", "escalated", "fired", "held", "items", "marks", "offered",
        "offered_at", "outdone", "queued", "texts", "turns",
    )  # fmt: skip

    def __init__(self) -> None:
        self.turns = 0
        self.chars = 0  # injected so far
        self.fired: dict[str, tuple[float, str]] = {}  # trigger → when it last fired, and who claimed it first
        self.documents: set[str] = set()  # injected in full
        self.held: dict[str, dict[str, str]] = {}  # stopped call → the triggers that stopped it, with claims
        self._seen: dict[str, int] = {}
        self._unread: dict[bytes, int] = {}  # unparsed line of context words → the last turn with that line
        self.queued: list[str] = []  # texts that wait for a moment at which the host can carry them
        self.marks: dict[str, tuple[int, str]] = {}  # mark in force → the turn of its statement, and the statement
        self.items: set[str] = set()  # fingerprints of tasks that were judged when they came up
        self.offered: list[str] = []  # triggers of the last announcement: a yes to it escalates them
        self.offered_at = 0  # the turn of that announcement
        self.escalated: set[str] = set()  # triggers that were repeated after a yes
        self.outdone: set[str] = set()  # triggers that say nothing of an act, because another one did
        self.texts: set[str] = set()  # prints of long texts that fired, also before a compaction
        self.armed: set[str] = set()  # triggers that spoke of an act and have yet to decide on it

    @property
    def awaits_answer(self) -> bool:
        """Whether the previous turn announced something that deia warned about."""
        return bool(self.offered) and self.offered_at == self.turns

    @property
    def seen(self) -> dict[str, int]:
        """Context word → the turn it was last seen in; parsed on first use, since few turns need it."""
        for line, turn in self._unread.items():
            for word in parse_entry(line).seen:
                self._seen[word] = max(turn, self._seen.get(word, 0))
        self._unread.clear()
        return self._seen

    def copy(self) -> Memory:
        """Return a copy that can be changed independently."""
        copy = Memory()
        for name in Memory.__slots__:
            value = getattr(self, name)
            setattr(copy, name, value.copy() if isinstance(value, (dict, set, list)) else value)
        return copy

    def read(self, line: bytes) -> None:
        """Update the memory by one line of the log; a torn line counts as a turn and has no content."""
        if not line.startswith(b"{"):
            self.turns += line.count(QUIET)
            return
        if line.startswith(CLAIM):
            return
        self.turns += not line.startswith(ASIDE)
        if line.startswith(SEEN) and line.endswith(b"]}") and line.count(b"[") == 1:
            self._unread[line] = self.turns
        else:
            self.take(parse_entry(line))

    def take(self, entry: LogEntry) -> None:
        """Update the memory by an entry about the current turn."""
        if entry.event == RESET:
            self.fired, self.documents, self.held, self.chars = {}, set(), {}, 0
            self.offered, self.escalated, self.armed, self.outdone = [], set(), set(), set()
        for trigger, claim in entry.fired.items():
            first_claim = self.fired.get(trigger, (entry.at, claim))[1]
            self.fired[trigger] = (entry.at, first_claim)
            self.armed.discard(trigger)
        self.documents.update(entry.docs)
        for call in entry.held:
            self.held[call] = {**entry.fired, **self.held.get(call, {})}
        self._seen.update(dict.fromkeys(entry.seen, self.turns))
        for mark, statement in entry.marks.items():
            self.marks[mark] = (self.turns, statement)
            if not statement:
                del self.marks[mark]
        self.items.update(entry.items)
        self.escalated.update(entry.escalated)
        self.armed.update(entry.escalated, entry.armed)
        self.outdone.update(entry.outdone)
        self.texts.update(entry.texts)
        if entry.offered:
            self.offered, self.offered_at = list(entry.offered), self.turns
        self.chars += entry.chars
        if entry.delivered:
            self.queued = self.queued[entry.delivered :]
        self.queued += entry.queued


def recall(log: bytes, memory: Memory | None = None) -> Memory:
    """Return the memory that a log describes; given a `memory`, update it by what was added to the log since."""
    memory = memory or Memory()
    for line in log.split(b"\n"):
        memory.read(line)
    return memory


def awaits_answer(turn: Turn, log: bytes) -> bool:
    """Return whether a turn may answer an announcement that deia warned about: it comes next and is short."""
    if b'"offered"' not in log or not (turn.role == "user" or turn.tool.lower() in ANSWERED_TOOLS):
        return False
    if len(turn.text) > MOST_ANSWER and turn.role == "user":
        return False
    return recall(log).awaits_answer


class InMemoryLog:
    """A conversation's log inside this process, for a Librarian."""

    __slots__ = ("_memory", "_size_read", "data")
    is_lost = False

    def __init__(self) -> None:
        self.data = bytearray()
        self._memory = Memory()
        self._size_read = 0  # bytes that the memory has taken in

    def read(self) -> bytes:
        """Return the log so far."""
        return bytes(self.data)

    def memory(self) -> Memory:
        """Return a copy of the memory that the log describes; only what was added since the last call is read."""
        recall(bytes(self.data[self._size_read :]), self._memory)
        self._size_read = len(self.data)
        return self._memory.copy()

    def append(self, data: bytes) -> bool:
        """Add to the log."""
        self.data += data
        return True


def memory_of(log: FileLog | InMemoryLog) -> Memory:
    """Return the memory that a log describes."""
    return log.memory() if isinstance(log, InMemoryLog) else recall(log.read())


def parse_entry(line: bytes) -> LogEntry:
    """Return what a line says; malformed fields are left out, and a malformed line is an empty entry."""
    try:
        value = loads(line.decode("ascii", "replace"))
    except ValueError:
        return NO_ENTRY
    if not isinstance(value, dict):
        return NO_ENTRY
    return LogEntry(**{name: READERS[name](item) for name, item in value.items() if name in READERS})


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> Sequence[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else ()


def _text_mapping(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: item for name, item in value.items() if isinstance(item, str)}


def _number(value: object) -> float:
    return value if isinstance(value, (int, float)) else 0.0


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


NO_ENTRY = LogEntry()
READERS: dict[str, Callable[[object], Any]] = {
    "event": _text, "aside": bool, "queued": _texts, "stopping": _texts, "at": _number, "fired": _text_mapping,
    "seen": _texts, "docs": _texts, "chars": _count, "held": _texts, "marks": _text_mapping, "items": _texts,
    "offered": _texts, "escalated": _texts, "armed": _texts, "outdone": _texts, "texts": _texts,
    "delivered": _count, "logged": _text_mapping, "stale": _text,
}  # fmt: skip
