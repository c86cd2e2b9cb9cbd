"""The memory of a conversation: which triggers fired, what was injected, which platforms were named.

Processes are started anew for each turn, so the memory is an append-only log per conversation: one dot for a quiet
turn, one JSON line for a turn that left something to remember. Appends are atomic, so no lock is needed. If several
processes claim a trigger, it belongs to the one whose line comes first.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import dumps, loads
from deia.records import TYPE_CHECKING, Record, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

QUIET = b"."
RESET = "reset"  # the conversation was compacted or cleared: the model no longer sees what was injected
ASIDE = (b'{"queued"', b'{"aside"')  # beginnings of lines that belong to the turn before them
CLAIM = b'{"aside":true,"once"'  # beginning of the lines by which processes claim events; memory needs nothing of them
SEEN = b'{"seen"'  # beginning of a line that may hold nothing else
MOST_BYTES = 4_000_000
MOST_ANSWER = 160  # characters of a yes; a longer answer says more than yes
ANSWERED_TOOLS = frozenset(("exitplanmode", "exit_plan_mode", "askuserquestion", "ask_user"))  # a person answers them
SUBAGENT = "--agent-"  # separates a conversation's id from the id of an agent that works for it


class LogEntry(Record):
    """One line of the log, about a turn or (an aside) about the turn before it; empty fields are not written.

    The order of the fields is that of the keys in a line, whose first key tells readers what kind of line it is.
    """

    event: str = ""  # RESET
    aside: bool = False
    queued: Sequence[str] = ()  # texts that wait for a moment at which the host can carry them
    stopping: Sequence[str] = ()  # triggers of queued texts that would have stopped a call
    at: float = 0.0  # seconds since the epoch
    fired: Mapping[str, str] = {}  # trigger → the claim of the process that saw it fire
    seen: Sequence[str] = ()  # context words
    docs: Sequence[str] = ()  # documents injected in full
    chars: int = 0  # of the injection
    held: Sequence[str] = ()  # fingerprints of calls that `fired` stopped
    marks: Mapping[str, str] = {}  # mark → the statement that sets it, "" if it was taken back
    items: Sequence[str] = ()  # fingerprints of tasks
    offered: Sequence[str] = ()  # triggers that the turn announces
    escalated: Sequence[str] = ()  # triggers that were repeated after a yes
    armed: Sequence[str] = ()  # triggers that only spoke of an act which they would stop
    outdone: Sequence[str] = ()  # triggers for whose sentence another one spoke
    texts: Sequence[str] = ()  # prints of long texts that fired
    delivered: int = 0  # queued texts that were delivered
    logged: Mapping[str, str] = {}  # trigger → the id of its event in the ledger
    stale: str = ""  # why the compiled files are out of date


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


def log_line(entry: Record) -> bytes:
    """Return the line for an entry, or a dot if it is empty; a newline separates it from a torn line before it."""
    fields = {name: value for name, value in entry.values().items() if value}
    return b"\n" + dumps(fields).encode("ascii") + b"\n" if fields else QUIET


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


class FileLog:
    """A conversation's log in a person's state folder, shared by the processes that serve the conversation.

    What cannot be written there goes to the first of the `spare` folders that can be written and is private.
    """

    __slots__ = ("_name", "_spare", "is_lost", "path")

    def __init__(self, folder: str, conversation: str, *, spare: Sequence[str] = ()) -> None:
        self._name = file_name(conversation)
        self._spare = spare
        self.path = f"{folder}/memory/{self._name}"
        self.is_lost = False  # whether something could not be written anywhere, so that it will not be remembered

    def read(self) -> bytes:
        """Return the log so far."""
        log = files.read_end(self.path, MOST_BYTES)
        for folder in self._spare:
            if files.is_private(f"{folder}/memory"):
                log += files.read_end(f"{folder}/memory/{self._name}", MOST_BYTES)
        return log

    def memory(self) -> Memory:
        """Return the memory that the log describes."""
        return recall(self.read())

    def append(self, data: bytes) -> bool:
        """Add to the log; return whether it worked."""
        is_kept = files.append(self.path, data) or any(self._append(f"{folder}/memory", data) for folder in self._spare)
        self.is_lost = self.is_lost or not is_kept
        return is_kept

    def _append(self, folder: str, data: bytes) -> bool:
        is_private = files.make_folders(folder) and files.is_private(folder)
        return is_private and files.append(f"{folder}/{self._name}", data)


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


def belongs_to(conversation: str, parent: str) -> bool:
    """Return whether a conversation is `parent`, or that of an agent which works for it."""
    return conversation == parent or conversation.startswith(parent + SUBAGENT)


def file_name(conversation: str) -> str:
    """Return a safe file name for a conversation's id: its letters and digits, and a fingerprint if any is left out."""
    kept = "".join(char for char in conversation if char.isascii() and (char.isalnum() or char in "-_"))[:80]
    if kept == conversation and kept:
        return kept
    return f"{kept[:60]}~{fingerprint(conversation):016x}"


def fingerprint(text: str) -> int:
    """Return the text as a number modulo a prime just below 2**64: it takes linear time, but can be forged."""
    return int.from_bytes(text.encode("utf-8", "surrogatepass"), "little") % 0xFFFFFFFFFFFFFFC5
