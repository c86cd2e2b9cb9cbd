"""The gate's tables: which words lead to which rows, and how far apart the words of a row may lie.

Refuses to know what a clause is: it gets groups of words of which one each must be there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deia.compile.triggers.lowered import Group
from deia.records import Record
from deia.watch.gate.artefact import ONLY_ASKED, bucket
from deia.watch.gate.word_gate import A_CHANGE, A_LINE, CLAUSE, IN_LINE, NEAR, PHRASED, SAID, WIDE, WRITTEN

# Words so common in the talk of coding agents that a row should not be looked up by them if another word will do.
COMMON = frozenset(
    "a all and api app branch build bash change check clean code command commit config data db delete deploy error file"
    " files fix for force from get git i in install is it let main make name need new node not npm of on or project"
    " push python remove rm run script server site table test tests that the this to update use with write you".split()
)


class Gated(Record):
    """A row of the gate: what it leads to (a trigger or, above them, a context word) and the groups it needs."""

    target: int
    who: int
    groups: tuple[Group, ...]
    wide: bool = False
    clause: int = -1  # the number of the clause among its trigger's, where that is enough by itself
    placed: bool = False  # whether that clause is looked for where its words stand before anything is judged


def gate_tables(rows: Sequence[Gated]) -> list[list[bytes]]:
    """Give the tables of words, groups and rows; a row is looked at when its least common group is present."""
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
        others = [one for one in own if one != names[key]]
        by_group[names[key]].append(" ".join((str(number), str(who), *others)))
        packed.append(" ".join((str(row.target), str(who), *own)).encode())
    return [_word_table(names), [",".join(entries).encode() for entries in by_group.values()], packed]


def _names(keys: Sequence[Group], rows: Sequence[Gated]) -> dict[Group, str]:
    """Name the groups: those that rows are looked up by are numbered, the others are told from them."""
    leading = {group: str(number) for number, group in enumerate(dict.fromkeys(keys))}
    others = dict.fromkeys(group for row in rows for group in row.groups if group not in leading)
    return leading | {group: f"{ONLY_ASKED}{number}" for number, group in enumerate(others)}


def _reach(row: Gated) -> int:
    """Give how far apart the words of a row may lie, as its flag."""
    if row.placed:
        return WRITTEN if any(A_CHANGE in group for group in row.groups) else PHRASED
    if row.wide and len(row.groups) > 1:
        return WIDE
    pseudo = {word for group in row.groups for word in group if word in {SAID, A_LINE}}
    return NEAR if SAID in pseudo else IN_LINE if pseudo else 0


def _busyness(group: Group, uses: Mapping[str, int]) -> int:
    """Estimate how often a group is present in vain: a common word costs like a thousand rows."""
    if SAID in group or A_LINE in group:  # of nearly every turn
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
