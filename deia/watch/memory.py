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
MOST_BYTES = 4_000_000
MOST_ANSWER = 160  # characters of a yes; who writes more says more than yes
ANSWERED_TOOLS = frozenset(("exitplanmode", "exit_plan_mode", "askuserquestion", "ask_user"))  # the answer is theirs


class Memory:
    """A conversation's log, read: what matters for the next turn."""

    __slots__ = (
        "armed", "chars", "documents", "escalated", "fired", "held", "items", "marks", "offered", "offered_at",
        "queued", "seen", "turns",
    )  # fmt: skip

    def __init__(self) -> None:
        self.turns = 0
        self.chars = 0  # injected so far
        self.fired: dict[str, tuple[float, str]] = {}  # trigger → when it last fired, and who claimed it first
        self.documents: set[str] = set()  # injected in full
        self.held: set[str] = set()  # calls that were stopped once
        self.seen: dict[str, int] = {}  # context word → the turn it was last seen in
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

    def take(self, entry: dict[str, Any]) -> None:
        """Take one line of the log into account; what is malformed in it is passed over."""
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
        self.seen.update(dict.fromkeys(_texts(entry.get("seen")), self.turns))
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


def recall(log: bytes) -> Memory:
    """Read a conversation's log; torn lines count as turns and say nothing."""
    memory = Memory()
    for line in log.split(b"\n"):
        if not line.startswith(b"{"):
            memory.turns += line.count(QUIET)
            continue
        memory.turns += not line.startswith(ASIDE)
        try:
            entry = loads(line.decode("ascii", "replace"))
        except ValueError:
            continue
        if isinstance(entry, dict):
            memory.take(entry)
    return memory


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

    def append(self, data: bytes) -> bool:
        """Add to the log; say whether it worked."""
        return files.append(self.path, data)


class HeldLog:
    """A conversation's log in this process, for a Librarian."""

    __slots__ = ("data",)

    def __init__(self) -> None:
        self.data = bytearray()

    def read(self) -> bytes:
        """Give the log so far."""
        return bytes(self.data)

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
