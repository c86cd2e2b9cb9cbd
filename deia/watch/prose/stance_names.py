"""The names of the stances an act may have, and which of them a trigger's list of stances includes."""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Container

ANNOUNCED, REQUESTED, RUNNING, NEGATED = "announced", "requested", "running", "negated"
REPORTED, DONE_NOW, ASKED, SUPPOSED = "reported", "done", "asked", "supposed"
QUOTED, DRY_RUN = "quoted", "dry_run"
DENIALS = frozenset(("not", "never", "without", "no"))
# Stances that were added later. A trigger that lists the wider one means both.
WIDER = {RUNNING: ANNOUNCED, DONE_NOW: REPORTED, SUPPOSED: ASKED}
NARROWER = {wide: narrow for narrow, wide in WIDER.items()}


def counts(stance: str, listed: Container[str]) -> bool:
    """Return whether a trigger that lists some stances means this one: `announced` includes `running`, and so on."""
    return stance in listed or WIDER.get(stance) in listed


NEAR = 6  # words before the act that `Act.near` has


class Act(Record):
    """An act in its sentence, as lower-case words."""

    before: tuple[str, ...]  # from the start of the clause to the verb
    verb: str
    after_verb: tuple[str, ...]  # from the verb to the end of the act's phrase
    opening: tuple[str, ...]  # the sentence up to the verb, included
    sentence: tuple[str, ...]
    question: bool
    following: tuple[str, ...] = ()  # the few words right after the phrase
    aside: bool = False  # first in its parentheses
    reach: int = 0  # characters between the start of the clause and the verb
    mark: str = ""  # the punctuation mark before the clause
    resolved: bool = False  # the clause begins with "I'll …" or the like, inside the sentence

    @property
    def near(self) -> tuple[str, ...]:
        """The last few words before the act in its clause."""
        return self.before[-NEAR:]
