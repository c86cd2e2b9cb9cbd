"""The file of compiled triggers: memory-mapped, and decoded item by item as the watcher asks for them.

The file is a header and six tables. A table is an array of 32-bit offsets, followed by the bytes that they divide.
Words lead to groups (the interchangeable words in one place of a clause), groups to rows (the groups that must be
present together), and rows to triggers. A file that is damaged, of another format or from another machine raises
ArtefactError, which names the command that repairs it.
"""

from __future__ import annotations

import mmap

from deia.errors import ArtefactError
from deia.fast_json import loads
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from deia.watch.compiled_trigger import ActWords, CompiledClause, CompiledMark, CompiledTrigger

    K = TypeVar("K")
    V = TypeVar("V")

FORMAT = 25  # of the tables and of their items
KIND = len("DEIAT")  # bytes that every version begins with
MAGIC = b"DEIAT%02X\n" % FORMAT  # eight bytes, so that the tables begin at multiples of four
BYTE_ORDER = 0x01020304  # written in native order: a machine with another byte order reads another number
TABLES = ("words", "groups", "rows", "triggers", "documents", "meta")
WORDS, GROUPS, ROWS, TRIGGERS, DOCUMENTS, META = range(6)
HEADER = len(MAGIC) + 4 * (2 + 2 * len(TABLES))
UNINDEXED = "x"  # begins the name of a group that no row is looked up by; the names of all others are numbers
UNINDEXED_BYTE = ord(UNINDEXED)
LONGEST_WORD = 64  # bytes; nobody writes a longer word into a trigger
MOST_CACHED = 20_000
FIX = "Type: deia compile"


def bucket(word: bytes, count: int) -> int:
    """Return the bucket of a word. The built-in `hash` will not do: it differs between processes."""
    return int.from_bytes(word, "little") % count


class Meta(Record):
    """What the compiler stores about the whole artefact. The serialised keys are the names of the fields."""

    settings: dict[str, Any]  # of the commons, as resolved when it was compiled
    triggers: int  # number of triggers; the items of that table after them are marks
    marks: int
    contexts: str  # words that targets above triggers and marks stand for, one a line: few turns need them
    known: int  # 1 if the path and title of every document are stored
    words: int  # number of vocabularies of `act` clauses: deia's, and one for each commons that adds words
    paths: int  # 1 if the names of the files that a call reads must be remembered
    names: int  # 1 if the names that a call removes must be remembered
    parts: Sequence[str]  # parts of tool names that clauses look for
    fields: Sequence[str]  # fields of tool inputs that clauses look for
    waiting: Mapping[str, int]  # number of a trigger that waits for a mark (as text) → number of the mark
    ending: Mapping[str, tuple[int, str]]  # number of a mark (as text) → its first clause that takes it back; its name
    ungated: Sequence[tuple[int, int]]  # triggers that no word gates, and whose turns they count for (bits)
    regex: Sequence[str | int]  # the interpreter that made the patterns' code
    format: int
    deia: str = ""  # version that compiled it
    digest: str = ""  # of the sources
    forms: str = ""  # where irregular word forms come from
    faults: Sequence[str] = ()  # trigger files with errors, and what counts instead, in words


class _Cache(dict["K", "V"]):
    """A function's results by its argument. Looking one up costs no method call, and a turn looks up hundreds."""

    def __init__(self, function: Callable[[K], V]) -> None:
        self._function = function

    def __missing__(self, key: K) -> V:
        if len(self) >= MOST_CACHED:
            self.clear()
        self[key] = value = self._function(key)
        return value


class Artefact:
    """An open artefact. Rows, groups and triggers are decoded when first asked for, and kept."""

    __slots__ = ("_act_words", "_data", "_records", "_tables", "_view", "entries_of", "groups_of", "meta", "row")

    def __init__(self, data: mmap.mmap | bytes) -> None:
        """Check the header and the length, and read the small `meta` table."""
        if data[:KIND] == MAGIC[:KIND] and data[: len(MAGIC)] != MAGIC:
            raise ArtefactError("the triggers were compiled by another version of deia", fix=FIX)
        if len(data) < HEADER or data[: len(MAGIC)] != MAGIC:
            raise ArtefactError("the compiled triggers are damaged", fix=FIX)
        self._data = data
        self._view = memoryview(data)[: len(data) & ~3].cast("I")
        if self._view[2] != BYTE_ORDER or self._view[3] != len(data):
            raise ArtefactError("the compiled triggers are damaged or from another machine", fix=FIX)
        self._tables = [(self._view[4 + 2 * table], self._view[5 + 2 * table]) for table in range(len(TABLES))]
        # The groups that a normalised word belongs to; the entries of the rows that a group leads to; and of a row its
        # target, whose turns it counts for (bits), and the groups that must all be present. Groups are called by their
        # names as bytes: a turn compares thousands of them, and decoding would cost more.
        self.groups_of: Callable[[str], tuple[bytes, ...]] = _Cache(self._groups).__getitem__
        self.entries_of: Callable[[bytes], list[bytes]] = _Cache(self._entries).__getitem__
        self.row: Callable[[int], tuple[int, int, frozenset[bytes]]] = _Cache(self._row).__getitem__
        self._records: dict[int, CompiledTrigger | CompiledMark] = {}
        self._act_words: dict[int, ActWords] = {}
        try:
            self.meta = Meta(**loads(self.item(META, 0).decode()))
        except (ValueError, IndexError, TypeError) as error:  # of the right length, but with other content
            raise ArtefactError("the compiled triggers are damaged", fix=FIX) from error

    def item(self, table: int, number: int) -> bytes:
        """Return one item of a table as bytes."""
        at, count = self._tables[table]
        if not 0 <= number < count:
            raise ArtefactError(f"the compiled triggers have no {TABLES[table]} {number}", fix=FIX)
        first = (at >> 2) + number
        base = at + 4 * (count + 1)
        return self._data[base + self._view[first] : base + self._view[first + 1]]

    def count(self, table: int) -> int:
        """Return the number of items of a table."""
        return self._tables[table][1]

    def _groups(self, word: str) -> tuple[bytes, ...]:
        key = word.encode("utf-8", "surrogatepass")
        if len(key) > LONGEST_WORD:
            return ()
        entries = self.item(WORDS, bucket(key, self._tables[WORDS][1]))
        if not entries:
            return ()
        _, mark, groups = entries.partition(b"\n" + key + b"\t")
        return tuple(groups[: groups.find(b"\n")].split(b",")) if mark else ()

    def _entries(self, group: bytes) -> list[bytes]:
        """Return the entries of the rows that a group leads to: number, whose turns it counts for, other groups."""
        return [] if group[0] == UNINDEXED_BYTE else self.item(GROUPS, int(group)).split(b",")

    def rows_of(self, group: bytes) -> list[int]:
        """Return the numbers of the rows that a group leads to."""
        return [int(entry.split()[0]) for entry in self.entries_of(group)]

    def _row(self, number: int) -> tuple[int, int, frozenset[bytes]]:
        target, who, *groups = self.item(ROWS, number).split()
        return int(target), int(who), frozenset(groups)

    def trigger(self, number: int) -> CompiledTrigger:
        """Return a compiled trigger."""
        trigger: CompiledTrigger = self._record(number)
        return trigger

    def triggers(self) -> list[CompiledTrigger]:
        """Return all compiled triggers."""
        return [self.trigger(number) for number in range(self.meta.triggers)]

    def mark(self, number: int) -> CompiledMark:
        """Return a compiled mark; their numbers follow those of the triggers."""
        mark: CompiledMark = self._record(number)
        return mark

    def clause(self, target: int, number: int) -> CompiledClause:
        """Return a clause of a trigger or mark, by its number in the gate's rows."""
        clause: CompiledClause = self._record(target).clauses[number]
        return clause

    def _record(self, number: int) -> Any:
        record = self._records.get(number)
        if record is None:
            from deia.watch.compiled_trigger import parse_trigger  # noqa: PLC0415 - most turns open no trigger

            record = self._records[number] = parse_trigger(self.item(TRIGGERS, number).decode("ascii"))
        return record

    @property
    def known(self) -> list[tuple[str, str]]:
        """Path and title of every document; empty if no trigger asks for them."""
        at = self.meta.triggers + self.meta.marks
        known: list[tuple[str, str]] = loads(self.item(TRIGGERS, at).decode("ascii")) if self.meta.known else []
        return known

    def act_words(self, number: int) -> ActWords:
        """Return the verbs and nouns of a vocabulary, which `act` clauses know."""
        if number not in self._act_words:
            from deia.watch.compiled_trigger import ActWords, WordTable  # noqa: PLC0415 - most turns open no trigger

            at = self.meta.triggers + self.meta.marks + self.meta.known + number
            stored = loads(self.item(TRIGGERS, at).decode("ascii")) if number < self.meta.words else {}
            tables = {name: WordTable(stored.get(name, {})) for name in ("verbs", "nouns")}
            self._act_words[number] = ActWords(**{**stored, **tables})
        return self._act_words[number]

    def document(self, number: int) -> dict[str, str]:
        """Return a document as it may be injected: id, path, title, summary, text."""
        document: dict[str, str] = loads(self.item(DOCUMENTS, number).decode("ascii"))
        return document

    def document_of(self, identity: str) -> dict[str, str] | None:
        """Return the document with this id, or None. Documents are sorted by id."""
        low, high = 0, self.count(DOCUMENTS)
        while low < high:
            middle = (low + high) // 2
            document = self.document(middle)
            if document["id"] == identity:
                return document
            low, high = (middle + 1, high) if document["id"] < identity else (low, middle)
        return None


def open_artefact(path: str) -> Artefact:
    """Map the artefact at `path`; raise ArtefactError if it is missing, damaged, or of another format."""
    try:
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: the file is empty, or the path has a NUL in it
        raise ArtefactError("the commons is not compiled", where=path, fix=FIX) from error
    return Artefact(data)
