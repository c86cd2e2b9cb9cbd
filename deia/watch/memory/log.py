"""The log of a conversation, in which processes that are started anew for each turn write what is to be remembered.

It is an append-only file: one dot for a quiet turn, one JSON line for a turn that left something. Appends are atomic,
so no lock is needed. If several processes claim a trigger, it belongs to the one whose line comes first. What a log
says is read by `deia.watch.memory.recall`, which a quiet turn does not need.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import dumps
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

QUIET = b"."
RESET = "reset"  # the conversation was compacted or cleared: the model no longer sees what was injected
MOST_BYTES = 4_000_000
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


def log_line(entry: Record) -> bytes:
    """Return the line for an entry, or a dot if it is empty; a newline separates it from a torn line before it."""
    fields = {name: value for name, value in entry.values().items() if value}
    return b"\n" + dumps(fields).encode("ascii") + b"\n" if fields else QUIET


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

    def append(self, data: bytes) -> bool:
        """Add to the log; return whether it worked."""
        is_kept = files.append(self.path, data) or any(self._append(f"{folder}/memory", data) for folder in self._spare)
        self.is_lost = self.is_lost or not is_kept
        return is_kept

    def _append(self, folder: str, data: bytes) -> bool:
        is_private = files.make_folders(folder) and files.is_private(folder)
        return is_private and files.append(f"{folder}/{self._name}", data)


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
