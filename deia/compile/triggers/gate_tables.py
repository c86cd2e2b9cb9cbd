"""Build the gate's tables: which words lead to which rows, and how far apart the words of a row may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deia.compile.triggers.lowered import Group, Row
from deia.records import Record
from deia.watch.gate.artefact import UNINDEXED, bucket
from deia.watch.gate.word_gate import A_CHANGE, A_LINE, A_PRINTED, CLAUSE, IN_LINE, NEAR, PHRASED, SAID, WIDE, WRITTEN

# Words so common in conversations with coding agents that a row should rather be looked up by another of its words.
COMMON = frozenset(
    "a all and api app branch build bash change check clean code command commit config data db delete deploy error file"
    " files fix for force from get git i in install is it let main make name need new node not npm of on or project"
    " push python remove rm run script server site table test tests that the this to update use with write you".split()
)


class Gated(Record):
    """A row of the gate: the groups that it needs, and its target: a trigger, a mark, or a context word."""

    target: int
    who: int  # bits of the roles in whose turns it counts
    groups: Row
    wide: bool = False  # whether its words may be anywhere in the turn
    clause: int = -1  # the number of the clause in its trigger, if that clause is enough by itself
    placed: bool = False  # whether the second gate looks for the clause before anything is judged


def gate_tables(rows: Sequence[Gated]) -> list[list[bytes]]:
    """Return the tables of words, groups and rows; a row is looked up by its least common group."""
    uses: dict[str, int] = {}
    for row in rows:
        for word in {word for group in row.groups for word in group}:
            uses[word] = uses.get(word, 0) + 1
    order = {group: (_busyness(group, uses), sorted(group)) for group in {one for row in rows for one in row.groups}}
    keys = [min(row.groups, key=order.__getitem__) for row in rows]
    names = _names(keys, rows)
    by_group: dict[str, list[str]] = {names[key]: [] for key in keys}
    packed = []
    for number, (row, key) in enumerate(zip(rows, keys, strict=True)):
        who = row.who | _reach(row) | (row.clause + 1) << CLAUSE
        own = [names[group] for group in row.groups]
        others = [name for name in own if name != names[key]]
        by_group[names[key]].append(" ".join((str(number), str(who), *others)))
        packed.append(" ".join((str(row.target), str(who), *own)).encode())
    return [_word_table(names), [",".join(entries).encode() for entries in by_group.values()], packed]


def _names(keys: Sequence[Group], rows: Sequence[Gated]) -> dict[Group, str]:
    """Return names for the groups: numbers for those that rows are looked up by, `x` and a number for the others."""
    leading = {group: str(number) for number, group in enumerate(dict.fromkeys(keys))}
    others = dict.fromkeys(group for row in rows for group in row.groups if group not in leading)
    return leading | {group: f"{UNINDEXED}{number}" for number, group in enumerate(others)}


def _reach(row: Gated) -> int:
    """Return the flag for how far apart the words of a row may be."""
    if row.placed:
        return WRITTEN if any(not group.isdisjoint((A_CHANGE, A_PRINTED)) for group in row.groups) else PHRASED
    if row.wide and len(row.groups) > 1:
        return WIDE
    pseudo = {word for group in row.groups for word in group if word in {SAID, A_LINE}}
    return NEAR if SAID in pseudo else IN_LINE if pseudo else 0


def _busyness(group: Group, uses: Mapping[str, int]) -> int:
    """Return an estimate of how often a group is present in vain; a common word counts like a thousand rows."""
    if SAID in group or A_LINE in group:  # present in nearly every turn
        return 10**9
    return sum(uses[word] + 1000 * (word in COMMON or word.startswith("\x01")) for word in group)


def _word_table(names: Mapping[Group, str]) -> list[bytes]:
    groups_of: dict[str, list[str]] = {}
    for group, name in names.items():
        for word in group:
            groups_of.setdefault(word, []).append(name)
    buckets = [b""] * (2 * len(groups_of) + 1)
    for word in sorted(groups_of):
        key = word.encode("utf-8", "surrogatepass")
        entry = b"\n" + key + b"\t" + ",".join(sorted(groups_of[word])).encode() + b"\n"
        buckets[bucket(key, len(buckets))] += entry
    return buckets
