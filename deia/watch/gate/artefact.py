"""The compiled triggers as the watcher reads them: one memory-mapped file, looked into, never loaded whole.

The file is a header and six tables; a table is an array of 32-bit offsets and the bytes they cut. Words lead to groups
(the interchangeable words of one place of a clause), groups to rows (what must be present together), rows to triggers.
Refuses a file that is torn, foreign or of another format: ArtefactError says which command mends it.
"""

from __future__ import annotations

import mmap

from deia.errors import ArtefactError
from deia.fast_json import loads
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

FOLDED = ("adds", "drops", "lacks")  # of a clause on what is written
FORMAT = 15  # of the tables and of what stands in them
MAGIC = b"DEIA-T%X\n" % FORMAT  # eight bytes, so that the tables lie at multiples of four
BYTE_ORDER = 0x01020304  # written natively: reads as another number where the byte order differs
TABLES = ("words", "groups", "rows", "triggers", "documents", "meta")
WORDS, GROUPS, ROWS, TRIGGERS, DOCUMENTS, META = range(6)
HEADER = len(MAGIC) + 4 * (2 + 2 * len(TABLES))
ONLY_ASKED = "x"  # begins the name of a group that no row is looked up by; the names of the others are numbers
ASKED = ord(ONLY_ASKED)
LONGEST_WORD = 64  # bytes; nobody writes a longer word into a trigger
MOST_CACHED = 20_000
FIX = "Type: deia compile"


def bucket(word: bytes, count: int) -> int:
    """Give the bucket of a word; arithmetic, because `hash` of text is salted anew in every process."""
    return int.from_bytes(word, "little") % count


class _Found(dict["Any", "Any"]):
    """What was looked up before, kept; of a hundred lookups a turn, a method each would cost more than the finding."""

    def __init__(self, find: Callable[[Any], Any]) -> None:
        self._find = find

    def __missing__(self, key: Any) -> Any:
        if len(self) >= MOST_CACHED:
            self.clear()
        self[key] = found = self._find(key)
        return found


class Artefact:
    """An open artefact. Rows, groups and triggers are decoded when first asked for and kept."""

    __slots__ = ("_data", "_records", "_tables", "_view", "entries_of", "groups_of", "meta", "row")

    def __init__(self, data: mmap.mmap | bytes) -> None:
        """Check header and length and read the small `meta` table.

        Raises:
            ArtefactError: the bytes are no whole artefact of this format.
        """
        if len(data) < HEADER or data[: len(MAGIC)] != MAGIC:
            raise ArtefactError("the compiled triggers are torn or of another format", fix=FIX)
        self._data = data
        self._view = memoryview(data)[: len(data) & ~3].cast("I")
        if self._view[2] != BYTE_ORDER or self._view[3] != len(data):
            raise ArtefactError("the compiled triggers are torn or from another machine", fix=FIX)
        self._tables = [(self._view[4 + 2 * table], self._view[5 + 2 * table]) for table in range(len(TABLES))]
        # The groups that a normalised word belongs to; the rows that are looked at when a group is present; what a row
        # leads to, whose turns it counts for (bits), and the groups that must all be present.
        # Groups go by their names as they are written, which are compared a thousand times a turn and never counted.
        self.groups_of: Callable[[str], tuple[bytes, ...]] = _Found(self._groups).__getitem__
        self.entries_of: Callable[[bytes], list[bytes]] = _Found(self._entries).__getitem__
        self.row: Callable[[int], tuple[int, int, frozenset[bytes]]] = _Found(self._row).__getitem__
        self._records: dict[int, dict[str, Any]] = {}
        try:
            self.meta: dict[str, Any] = loads(self.item(META, 0).decode())
        except (ValueError, IndexError) as error:  # of the right length and yet not what was written
            raise ArtefactError("the compiled triggers are torn", fix=FIX) from error

    def item(self, table: int, number: int) -> bytes:
        """Give one item of a table as bytes."""
        at, count = self._tables[table]
        if not 0 <= number < count:
            raise ArtefactError(f"the compiled triggers have no {TABLES[table]} {number}", fix=FIX)
        first = (at >> 2) + number
        base = at + 4 * (count + 1)
        return self._data[base + self._view[first] : base + self._view[first + 1]]

    def count(self, table: int) -> int:
        """Give the number of items of a table."""
        return self._tables[table][1]

    def _groups(self, word: str) -> tuple[bytes, ...]:
        key = word.encode("utf-8", "surrogatepass")
        if len(key) > LONGEST_WORD:
            return ()
        entries = self.item(WORDS, bucket(key, self._tables[WORDS][1]))
        if not entries:
            return ()
        mark = b"\n" + key + b"\t"
        at = entries.find(mark)
        if at < 0:
            return ()
        at += len(mark)
        return tuple(entries[at : entries.find(b"\n", at)].split(b","))

    def _entries(self, group: bytes) -> list[bytes]:
        """Give what is looked at when a group is present: of each row its number, whom it counts for, other groups."""
        return [] if group[0] == ASKED else self.item(GROUPS, int(group)).split(b",")

    def rows_of(self, group: bytes) -> list[int]:
        """Give the numbers of the rows that are looked at when a group is present."""
        return [int(entry.split()[0]) for entry in self.entries_of(group)]

    def _row(self, number: int) -> tuple[int, int, frozenset[bytes]]:
        target, who, *groups = self.item(ROWS, number).split()
        return int(target), int(who), frozenset(groups)

    def trigger(self, number: int) -> dict[str, Any]:
        """Give a compiled trigger."""
        known = self._records.get(number)
        if known is None:
            first, *lines = self.item(TRIGGERS, number).decode("ascii").split("\n")
            known = self._records[number] = loads(first)
            if lines:
                _put_back(known, lines)
        return known

    @property
    def known(self) -> list[list[str]]:
        """Path and title of every document there is; empty where no trigger asks for them."""
        at = self.meta["triggers"] + self.meta["marks"]
        known: list[list[str]] = loads(self.item(TRIGGERS, at).decode("ascii")) if self.meta["known"] else []
        return known

    def document(self, number: int) -> dict[str, Any]:
        """Give a document as it may be injected: id, path, title, summary, text."""
        value: dict[str, Any] = loads(self.item(DOCUMENTS, number).decode("ascii"))
        return value

    def document_of(self, identity: str) -> dict[str, Any] | None:
        """Give a document by its id, or None; documents lie in the order of their ids."""
        low, high = 0, self.count(DOCUMENTS)
        while low < high:
            middle = (low + high) // 2
            found = self.document(middle)
            if found["id"] == identity:
                return found
            low, high = (middle + 1, high) if found["id"] < identity else (low, middle)
        return None


def open_artefact(path: str) -> Artefact:
    """Map the artefact at `path`.

    Raises:
        ArtefactError: it is missing, torn, or of another format.
    """
    try:
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped, a NUL is no path
        raise ArtefactError("the commons is not compiled", where=path, fix=FIX) from error
    return Artefact(data)


def pack(tables: list[list[bytes]]) -> bytes:
    """Lay out the tables as one artefact, in the order of `TABLES`; the same tables give the same bytes."""
    parts: list[bytes] = []
    places: list[int] = []
    at = HEADER
    for items in tables:
        offsets, total = [0], 0
        for item in items:
            total += len(item)
            offsets.append(total)
        body = b"".join((_numbers(offsets), *items))
        body += b"\0" * (-len(body) % 4)
        places.extend((at, len(items)))
        parts.append(body)
        at += len(body)
    return b"".join((MAGIC, _numbers([BYTE_ORDER, at, *places]), *parts))


def _numbers(values: list[int]) -> bytes:
    from array import array  # noqa: PLC0415 - only the compiler packs; the hook never pays for it

    return array("I", values).tobytes()


def _put_back(trigger: Mapping[str, Any], lines: Sequence[str]) -> None:
    """Put the large parts of a trigger's clauses in their places, still as texts (`payload_folding`)."""
    for clause in (*trigger["any"], *trigger["all"]):
        for name in ("v",) if clause["k"] == "meaning" else FOLDED:
            if isinstance(clause.get(name), int):
                clause[name] = lines[clause[name] - 1]
