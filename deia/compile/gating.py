"""The gate's tables: which words lead to which rows, and how far apart the words of a row may lie.

Refuses to know what a clause is: it gets groups of words of which one each must be there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.records import Record
from deia.watch.artefact import bucket
from deia.watch.gate import A_CHANGE, A_LINE, CLAUSE, IN_LINE, NEAR, PHRASED, SAID, WIDE, WRITTEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Group = frozenset[str]
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
    phrase: int = -1  # the number of the clause among its trigger's, where that is a phrase and enough by itself


def gate_tables(rows: Sequence[Gated]) -> list[list[bytes]]:
    """Give the tables of words, groups and rows; a row is looked at when its least common group is present."""
    uses: dict[str, int] = {}
    for row in rows:
        for word in {word for group in row.groups for word in group}:
            uses[word] = uses.get(word, 0) + 1
    order = {group: (_busyness(group, uses), sorted(group)) for group in {one for row in rows for one in row.groups}}
    numbers: dict[Group, int] = {}
    keyed: dict[int, list[str]] = {}
    packed = []
    for number, row in enumerate(rows):
        own = [numbers.setdefault(group, len(numbers)) for group in row.groups]
        key = min(row.groups, key=order.__getitem__)
        who = row.who | _reach(row)
        others = [one for one in own if one != numbers[key]]
        keyed.setdefault(numbers[key], []).append(" ".join(map(str, (number, who, *others))))
        packed.append(" ".join(map(str, (row.target, who, *own))).encode())
    by_group = [",".join(keyed.get(number, ())).encode() for number in range(len(numbers))]
    return [_word_table(numbers), by_group, packed]


def _reach(row: Gated) -> int:
    """Give how far apart the words of a row may lie, as its flag."""
    if row.phrase >= 0:
        written = any(A_CHANGE in group for group in row.groups)
        return (WRITTEN if written else PHRASED) | row.phrase << CLAUSE
    if row.wide and len(row.groups) > 1:
        return WIDE
    pseudo = {word for group in row.groups for word in group if word in {SAID, A_LINE}}
    return NEAR if SAID in pseudo else IN_LINE if pseudo else 0


def _busyness(group: Group, uses: Mapping[str, int]) -> int:
    """Estimate how often a group is present in vain: a common word costs like a thousand rows."""
    if SAID in group or A_LINE in group:  # of nearly every turn
        return 10**9
    return sum(uses[word] + 1000 * (word in COMMON or word.startswith("\x01")) for word in group)


def _word_table(numbers: Mapping[Group, int]) -> list[bytes]:
    groups_of: dict[str, list[int]] = {}
    for group, number in numbers.items():
        for word in group:
            groups_of.setdefault(word, []).append(number)
    buckets = [b""] * (2 * len(groups_of) + 1)
    for word in sorted(groups_of):
        key = word.encode("utf-8", "surrogatepass")
        entry = b"\n" + key + b"\t" + ",".join(map(str, sorted(groups_of[word]))).encode() + b"\n"
        buckets[bucket(key, len(buckets))] += entry
    return buckets
