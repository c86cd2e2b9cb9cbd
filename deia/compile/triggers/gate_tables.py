"""Build the gate's tables from lowered clauses: which words lead to which rows, and how far apart they may be."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain

from deia.compile.triggers.units import IN_GROUP, GateRow
from deia.records import Record
from deia.tables import Tables
from deia.watch.compiled_trigger import CompiledClause
from deia.watch.gate.artefact import BYTE_ORDER, HEADER, MAGIC, UNINDEXED, bucket
from deia.watch.gate.word_gate import (
    A_CHANGE,
    A_LINE,
    A_PRINTED,
    A_RESULT,
    CLAUSE,
    IN_LINE,
    NEAR,
    PHRASED,
    SAID,
    WIDE,
    WRITTEN,
)

TABLES = Tables(__file__)
COMMON = TABLES.words("common")  # a row should rather be looked up by another of its words
IN_NEARLY_EVERY_TURN = frozenset((SAID, A_LINE))
Group = frozenset[str]  # words of which any one satisfies the gate
Row = tuple[Group, ...]  # groups that must all be satisfied


class Lowered(Record):
    """A compiled clause, and the rows of words for the gate, of which one must be satisfied."""

    clause: CompiledClause
    rows: tuple[Row, ...]
    wide: bool = False  # whether the words of a row may be anywhere in the turn
    antecedent: str = ""  # the name of what `<it>` stands for in the conversation's memory
    antecedent_rows: tuple[Row, ...] = ()  # words that mention it


def gate_row(row: Row, who: int, *, wide: bool = False, clause: int = -1, placed: bool = False) -> GateRow:
    """Return a row of the gate. `who` are the bits of the roles in whose turns it counts.

    Its words may be anywhere in the turn if it is `wide`. `clause` is the number of a clause that is enough by itself;
    if it is `placed`, the second gate looks for it before anything is judged.
    """
    groups = tuple([IN_GROUP.join(sorted(group)) for group in row])
    return GateRow(flags=who | _reach(row, wide=wide, placed=placed) | (clause + 1) << CLAUSE, groups=groups)


def _reach(row: Row, *, wide: bool, placed: bool) -> int:
    """Return the flag for how far apart the words of a row may be."""
    if placed:
        return WRITTEN if any(not group.isdisjoint((A_CHANGE, A_PRINTED, A_RESULT)) for group in row) else PHRASED
    if wide and len(row) > 1:
        return WIDE
    pseudo = {word for group in row for word in group if word in {SAID, A_LINE}}
    return NEAR if SAID in pseudo else IN_LINE if pseudo else 0


def gate_tables(rows: Sequence[tuple[int, GateRow]]) -> list[list[bytes]]:
    """Return the tables of words, groups and rows; a row is looked up by its least common group.

    Each row comes with its target: the number of a trigger, a mark, or a context word.
    """
    rows_with = Counter(chain.from_iterable([row.groups for _, row in rows]))
    groups_of = _groups_by_word(rows_with)
    order = _by_commonness(rows_with, groups_of)
    keys = [min(row.groups, key=order.__getitem__) for _, row in rows]
    names = _names(keys, order)
    by_group: dict[str, list[str]] = {names[key]: [] for key in keys}
    packed = []
    for number, ((target, row), key) in enumerate(zip(rows, keys, strict=True)):
        own = [names[group] for group in row.groups]
        others = [name for name in own if name != names[key]]
        by_group[names[key]].append(" ".join((str(number), str(row.flags), *others)))
        packed.append(" ".join((str(target), str(row.flags), *own)).encode())
    entries = [",".join(entries).encode() for entries in by_group.values()]
    return [_word_table(names, groups_of), entries, packed]


def _groups_by_word(groups: Iterable[str]) -> dict[str, list[str]]:
    groups_of: dict[str, list[str]] = {}
    for group in groups:
        for word in group.split(IN_GROUP):
            if word in groups_of:
                groups_of[word].append(group)
            else:
                groups_of[word] = [group]
    return groups_of


def _by_commonness(rows_with: Mapping[str, int], groups_of: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the places of groups in the order in which rows should be looked up by them, the least common first.

    How often a group is present in vain is estimated by the rows that its words are in; a common word counts like a
    thousand.
    """
    number_of = rows_with.__getitem__
    uses = {
        word: sum(map(number_of, groups)) + 1000 * (word in COMMON or word[:1] == "\x01")
        for word, groups in groups_of.items()
    }
    uses |= dict.fromkeys(IN_NEARLY_EVERY_TURN & uses.keys(), 10**9)
    of_word = uses.__getitem__
    commonness = {group: sum(map(of_word, group.split(IN_GROUP))) for group in rows_with}
    return {group: place for place, group in enumerate(sorted(rows_with, key=lambda group: (commonness[group], group)))}


def _names(keys: Sequence[str], groups: Iterable[str]) -> dict[str, str]:
    """Return names for the groups: numbers for those that rows are looked up by, `x` and a number for the others."""
    leading = {group: str(number) for number, group in enumerate(dict.fromkeys(keys))}
    others = [group for group in groups if group not in leading]
    return leading | {group: f"{UNINDEXED}{number}" for number, group in enumerate(others)}


def _word_table(names: Mapping[str, str], groups_of: Mapping[str, Sequence[str]]) -> list[bytes]:
    name_of = names.__getitem__
    buckets = [b""] * (2 * len(groups_of) + 1)
    for word in sorted(groups_of):
        key = word.encode("utf-8", "surrogatepass")
        entry = b"\n" + key + b"\t" + ",".join(sorted(map(name_of, groups_of[word]))).encode() + b"\n"
        buckets[bucket(key, len(buckets))] += entry
    return buckets


def pack(tables: Sequence[Sequence[bytes]]) -> bytes:
    """Return the bytes of an artefact with these tables, in the order of `watch.gate.artefact.TABLES`."""
    parts: list[bytes] = []
    places: list[int] = []
    at = HEADER
    for items in tables:
        offsets = array("I", [0, *accumulate(map(len, items))])
        part = b"".join((offsets.tobytes(), *items))
        part += b"\0" * (-len(part) % 4)
        places.extend((at, len(items)))
        parts.append(part)
        at += len(part)
    return b"".join((MAGIC, array("I", [BYTE_ORDER, at, *places]).tobytes(), *parts))
