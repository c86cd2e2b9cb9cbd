"""What a conversation has seen: which triggers fired, what was injected, which platforms came up.

It survives cold processes in an append-only log a conversation: one dot a quiet turn, one JSON line a turn that left
something behind. Appends are atomic, so no lock is needed; a trigger belongs to the process whose line about it came
first.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import dumps, loads
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from deia.records import Turn

QUIET = b"."
RESET = "reset"  # the conversation was compacted or cleared: what was injected is gone from the model's sight
ASIDE = (b'{"queued"', b'{"aside"')  # how lines begin that belong to the turn before them
SEEN = b'{"seen"'  # how a line begins that may say nothing else
MOST_BYTES = 4_000_000
MOST_ANSWER = 160  # characters of a yes; who writes more says more than yes
ANSWERED_TOOLS = frozenset(("exitplanmode", "exit_plan_mode", "askuserquestion", "ask_user"))  # the answer is theirs


class Memory:
    """A conversation's log, read: what matters for the next turn."""

    __slots__ = (
        "_seen", "_unread", "armed", "chars", "documents", "escalated", "fired", "held", "items", "marks", "offered",
        "offered_at", "queued", "turns",
    )  # fmt: skip

    def __init__(self) -> None:
        self.turns = 0
        self.chars = 0  # injected so far
        self.fired: dict[str, tuple[float, str]] = {}  # trigger → when it last fired, and who claimed it first
        self.documents: set[str] = set()  # injected in full
        self.held: set[str] = set()  # calls that were stopped once
        self._seen: dict[str, int] = {}
        self._unread: dict[bytes, int] = {}  # lines about what was seen → the turn of the last that reads so
        self.queued: list[str] = []  # texts that wait for a moment at which the host can carry them
        self.marks: dict[str, tuple[int, str]] = {}  # what still counts → the turn it was said in, and how
        self.items: set[str] = set()  # prints of tasks that were judged when they came up
        self.offered: list[str] = []  # triggers that the last announcement is about: a yes to it escalates them
        self.offered_at = 0  # the turn of that announcement
        self.escalated: set[str] = set()  # triggers that spoke once more after a yes
        self.armed: set[str] = set()  # of these, those whose act has not come yet

    @property
    def awaits_answer(self) -> bool:
        """Whether the turn before announced something that deia spoke of."""
        return bool(self.offered) and self.offered_at == self.turns

    @property
    def seen(self) -> dict[str, int]:
        """Context word → the turn it was last seen in; most turns that are judged do not ask."""
        for line, turn in self._unread.items():
            for word in _texts(_entry(line).get("seen")):
                self._seen[word] = max(turn, self._seen.get(word, 0))
        self._unread.clear()
        return self._seen

    def copy(self) -> Memory:
        """Give the same memory, to be changed by itself."""
        made = Memory()
        for name in Memory.__slots__:
            value = getattr(self, name)
            setattr(made, name, value.copy() if isinstance(value, (dict, set, list)) else value)
        return made

    def read(self, line: bytes) -> None:
        """Take one line of the log into account; a torn one counts as a turn and says nothing."""
        if not line.startswith(b"{"):
            self.turns += line.count(QUIET)
            return
        self.turns += not line.startswith(ASIDE)
        if line.startswith(SEEN) and line.endswith(b"]}") and line.count(b"[") == 1:
            self._unread[line] = self.turns
        else:
            self.take(_entry(line))

    def take(self, entry: dict[str, Any]) -> None:
        """Take what a line says into account; what is malformed in it is passed over."""
        if entry.get("event") == RESET:
            self.fired, self.documents, self.held, self.chars = {}, set(), set(), 0
            self.offered, self.escalated, self.armed = [], set(), set()
        when = _number(entry.get("at"))
        for trigger, claim in _mapping(entry.get("fired")).items():
            first = self.fired.get(trigger, (when, str(claim)))[1]
            self.fired[trigger] = (when, first)
            self.armed.discard(trigger)
        self.documents.update(_texts(entry.get("docs")))
        self.held.update(_texts(entry.get("held")))
        self._seen.update(dict.fromkeys(_texts(entry.get("seen")), self.turns))
        for mark, text in _mapping(entry.get("marks")).items():
            self.marks[mark] = (self.turns, str(text))
            if not text:
                del self.marks[mark]
        self.items.update(_texts(entry.get("items")))
        self.escalated.update(_texts(entry.get("escalated")))
        self.armed.update(_texts(entry.get("escalated")))
        if "offered" in entry:
            self.offered, self.offered_at = list(_texts(entry["offered"])), self.turns
        self.chars += int(_number(entry.get("chars")))
        if "delivered" in entry:
            self.queued = self.queued[int(_number(entry["delivered"])) :]
        self.queued += _texts(entry.get("queued"))


def recall(log: bytes, memory: Memory | None = None) -> Memory:
    """Read a conversation's log, or what was added to it since a `memory` was read from it."""
    memory = memory or Memory()
    for line in log.split(b"\n"):
        memory.read(line)
    return memory


def _entry(line: bytes) -> dict[str, Any]:
    try:
        entry = loads(line.decode("ascii", "replace"))
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def awaits_answer(turn: Turn, log: bytes) -> bool:
    """Say whether a turn may be the answer to an announcement that deia spoke of: it comes next, and is short."""
    if b'"offered"' not in log or not (turn.role == "user" or turn.tool.lower() in ANSWERED_TOOLS):
        return False
    if len(turn.text) > MOST_ANSWER and turn.role == "user":
        return False
    return recall(log).awaits_answer


def line(entry: dict[str, Any]) -> bytes:
    """Write a log line; it begins with a newline, so that a torn one before it stays alone."""
    return b"\n" + dumps({name: value for name, value in entry.items() if value}).encode("ascii") + b"\n"


SUBAGENT = "--agent-"  # between the id of a conversation and that of an agent that works for it, in its own context


def belongs_to(conversation: str, whole: str) -> bool:
    """Say whether a conversation is that one, or that of an agent which works for it."""
    return conversation == whole or conversation.startswith(whole + SUBAGENT)


class FileLog:
    """A conversation's log in a person's state folder, shared by the cold processes of one conversation."""

    __slots__ = ("path",)

    def __init__(self, folder: str, conversation: str) -> None:
        self.path = f"{folder}/memory/{file_name(conversation)}"

    def read(self) -> bytes:
        """Give the log so far."""
        return (files.read(self.path) or b"")[-MOST_BYTES:]

    def memory(self) -> Memory:
        """Give what the log says."""
        return recall(self.read())

    def append(self, data: bytes) -> bool:
        """Add to the log; say whether it worked."""
        return files.append(self.path, data)


class HeldLog:
    """A conversation's log in this process, for a Librarian."""

    __slots__ = ("_known", "_memory", "data")

    def __init__(self) -> None:
        self.data = bytearray()
        self._memory = Memory()
        self._known = 0  # bytes that the memory has taken in

    def read(self) -> bytes:
        """Give the log so far."""
        return bytes(self.data)

    def memory(self) -> Memory:
        """Give what the log says; only what was added since the last time is read."""
        recall(bytes(self.data[self._known :]), self._memory)
        self._known = len(self.data)
        return self._memory.copy()

    def append(self, data: bytes) -> bool:
        """Add to the log."""
        self.data += data
        return True


def file_name(conversation: str) -> str:
    """Give a file name for a conversation's id, untrusted text: letters and digits kept, a sum for the rest."""
    kept = "".join(char for char in conversation if char.isascii() and (char.isalnum() or char in "-_"))[:80]
    if kept == conversation and kept:
        return kept
    return f"{kept[:60]}~{fingerprint(conversation):016x}"


def fingerprint(text: str) -> int:
    """Tell texts apart, though not forgeries, in linear time: the text as a number modulo a prime just below 2**64."""
    return int.from_bytes(text.encode("utf-8", "surrogatepass"), "little") % 0xFFFFFFFFFFFFFFC5


def _texts(value: Any) -> Sequence[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> float:
    return value if isinstance(value, (int, float)) else 0.0
