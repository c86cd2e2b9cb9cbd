"""The values of a diagnosis: whom it is about, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deia.records import Record

FINE, WARNING, DEAD = "fine", "warning", "dead"


class Patient(Record):
    """Where and for whom `deia doctor` looks."""

    folder: str
    project: str
    environ: Mapping[str, str]
    explicit: str = ""  # the commons that --commons named
    tell: Callable[[str], object] = str  # hears what is being done where that takes a while; by default nobody does


class Finding(Record):
    """One thing that is well, or not, and what to do about it."""

    level: str  # fine | warning | dead
    text: str
    cure: str = ""
