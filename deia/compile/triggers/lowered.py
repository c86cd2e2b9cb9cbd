"""A lowered clause of a trigger: compiled for the watcher, with the words that the gate needs."""

from __future__ import annotations

from deia.records import Record
from deia.watch.compiled_trigger import CompiledClause

Group = frozenset[str]  # words of which any one satisfies the gate
Row = tuple[Group, ...]  # groups that must all be satisfied


class Lowered(Record):
    """A compiled clause, and the rows of words for the gate, of which one must be satisfied."""

    clause: CompiledClause
    rows: tuple[Row, ...]
    wide: bool = False  # whether the words of a row may be anywhere in the turn
    antecedent: str = ""  # the name of what `<it>` stands for in the conversation's memory
    antecedent_rows: tuple[Row, ...] = ()  # words that mention it
