"""The audit log of a server: one line for each request, chained so that a changed or removed line shows.

A line holds the SHA-256 of itself and of the line before. `head.json` beside the files of the days says where the chain
begins, which moves when old days are deleted, and how far it goes, so that a missing end shows, too. Whoever can write
all of these files can forge the whole chain: a head that was noted elsewhere (`deia audit-log` prints it) shows that.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from filelock import FileLock

from deia import fast_json, files, spool
from deia.errors import DeiaError
from deia.fast_json import Json
from deia.folders import people_folder
from deia.records import Record
from deia.typed_json import plain, read_record

FOLDER, HEAD = "audit", "head.json"
FIRST = "0" * 64  # what stands for the line before the first
DAY = 86_400
MOST_LINE = 16_384  # bytes
PATIENCE = 10.0  # seconds that a line waits for another server that writes
MOST_DAY = 4_000_000_000  # bytes of a day that are read


class Link(Record):
    """A place in the chain: how many lines lead to it, and the hash of the last."""

    seq: int = 0
    hash: str = FIRST


class Ends(Record):
    """The link before the first line of the chain, and the last link when it was written last."""

    begins: Link = Link()
    last: Link = Link()


class Damage(Record):
    """What is wrong with the chain, and where."""

    where: str
    problem: str


class Checked(Record):
    """The lines of a chain that can be read, what is wrong with it, and its head."""

    lines: tuple[Mapping[str, Json], ...]
    damages: tuple[Damage, ...]
    head: Link


def audit_folder(root: str, environ: Mapping[str, str]) -> str:
    """Return the folder of the audit log of a commons, among the person's own files."""
    return f"{people_folder(root, environ)}/{FOLDER}"


def hash_of(line: Mapping[str, Json]) -> str:
    """Return the hash of a line, which covers the hash of the line before."""
    content = {name: value for name, value in sorted(line.items()) if name != "hash"}
    return hashlib.sha256(fast_json.dumps(content).encode()).hexdigest()


class AuditTrail:
    """The audit log in a folder, which several servers may write; what is older than `days` days is deleted, if any."""

    def __init__(self, folder: str, *, days: int = 0) -> None:
        self.folder = folder
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="deia-audit")  # for writing in order, off the event loop
        self._lock = FileLock(f"{folder}/lock", timeout=PATIENCE)
        self._seen: tuple[str, tuple[int, int] | None, Link] = ("", None, Link())
        self._days, self._is_there = days, files.make_folders(folder)
        if self._is_there:
            self._delete_old()

    def append(self, line: Mapping[str, Json]) -> bool:
        """Add a line to the chain; return whether it was written."""
        if not self._is_there:
            return False
        try:
            with self._lock:
                return self._chain(line)
        except OSError:  # the lock cannot be had
            return False

    def _chain(self, line: Mapping[str, Json]) -> bool:
        path = f"{self.folder}/{spool.timestamp(time.time())[:10]}.jsonl"
        if self._seen[0] not in ("", path):  # another day began
            self._delete_old()
        last = self._last(path)
        whole = {**line, "seq": last.seq + 1, "prev": last.hash}
        link = Link(seq=last.seq + 1, hash=hash_of(whole))
        data = f"{fast_json.dumps({**whole, 'hash': link.hash})}\n".encode()
        if len(data) > MOST_LINE or not files.append(path, data):
            return False
        self._write(Ends(begins=read_ends(self.folder).begins, last=link))
        self._seen = path, files.stamp(path), link
        return True

    def _last(self, path: str) -> Link:
        """Return the last link; lines are read, too, since a killed server may not have written the head."""
        if self._seen[0] == path and self._seen[1] == files.stamp(path):
            return self._seen[2]
        head = read_ends(self.folder).last
        for day in reversed(days_of(self.folder)):
            end = files.read_end(f"{self.folder}/{day}", MOST_LINE)
            if end and end[-1:] != b"\n":  # the line of a killed server
                files.append(f"{self.folder}/{day}", b"\n")
            for text in reversed(end.splitlines()):
                link = _link_of(text)
                if link is not None:
                    return max(link, head, key=lambda place: place.seq)
        return head

    def _write(self, ends: Ends) -> None:
        files.keep(f"{self.folder}/{HEAD}", fast_json.dumps(plain(ends)).encode())

    def _delete_old(self) -> None:
        first = spool.timestamp(time.time() - self._days * DAY)[:10] if self._days else ""
        with self._lock:
            ends, link = read_ends(self.folder), None
            for name in days_of(self.folder):
                if name[:10] >= first:
                    break
                lines = files.read_end(f"{self.folder}/{name}", 2 * MOST_LINE).splitlines()
                link = next(filter(None, map(_link_of, reversed(lines))), link)
                self._write(Ends(begins=link or ends.begins, last=ends.last))
                files.remove(f"{self.folder}/{name}")


def days_of(folder: str) -> list[str]:
    """Return the names of the files of an audit log, the oldest first."""
    return [name for name in files.names(folder) if name.endswith(".jsonl")]


def read_ends(folder: str) -> Ends:
    """Return the ends of the chain in a folder, as far as they were written down."""
    with suppress(TypeError, ValueError):
        return read_record(Ends, fast_json.loads((files.read(f"{folder}/{HEAD}") or b"").decode("utf-8", "replace")))
    return Ends()


def read_trail(folder: str) -> Checked:
    """Return the lines of an audit log, and what is wrong with its chain."""
    ends, lines, damages = read_ends(folder), [], []
    before = ends.begins
    for where, text in _texts(folder):
        line, link = _line_of(text), _link_of(text)
        if line is None or link is None:
            damages.append(Damage(where=where, problem="this is no line of the log"))
            continue
        lines.append(line)
        if link.seq != before.seq + 1 or line.get("prev") != before.hash:
            damages.append(Damage(where=where, problem=_gap(before.seq + 1, link.seq)))
        if hash_of(line) != link.hash:
            damages.append(Damage(where=where, problem=f"line {link.seq} was changed"))
        before = link
    if before.seq < ends.last.seq or (before.seq == ends.last.seq and before.hash != ends.last.hash):
        damages.append(Damage(where=f"{folder}/{HEAD}", problem=_gap(before.seq + 1, ends.last.seq + 1)))
    return Checked(lines=tuple(lines), damages=tuple(damages), head=before)


def _gap(expected: int, actual: int) -> str:
    if actual > expected:
        missing = f"lines {expected} to {actual - 1} are" if actual - 1 > expected else f"line {expected} is"
        return f"{missing} missing"
    return f"line {actual} does not follow the line before it"


def _texts(folder: str) -> Iterator[tuple[str, bytes]]:
    for name in days_of(folder):
        content = files.read(f"{folder}/{name}", MOST_DAY)
        if content is None:
            raise DeiaError("this file of the audit log cannot be read", where=f"{folder}/{name}")
        yield from ((f"{name}:{number}", text) for number, text in enumerate(content.split(b"\n"), 1) if text)


def _line_of(text: bytes) -> dict[str, Json] | None:
    with suppress(ValueError):
        value = fast_json.loads(text.decode("utf-8", "replace"))
        return value if isinstance(value, dict) else None
    return None


def _link_of(text: bytes) -> Link | None:
    line = _line_of(text) or {}
    with suppress(TypeError):
        return read_record(Link, line) if {"seq", "hash"} <= line.keys() else None
    return None
