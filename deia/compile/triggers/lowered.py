"""A clause of a trigger, lowered: ready for the watcher, with the words that the gate needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deia.records import Record

Group = frozenset[str]  # words of which any one satisfies the gate


class Lowered(Record):
    """A clause ready for the watcher, and the alternatives of words it needs: one of `rows`, each a list of groups."""

    clause: Mapping[str, Any]
    rows: tuple[tuple[Group, ...], ...]
    wide: bool = False  # whether the words of a row may lie anywhere in the turn
    # What `<it>` may stand for: the name under which the conversation's memory keeps it, and words that name it.
    said: tuple[str, tuple[tuple[Group, ...], ...]] = ("", ())
