"""The stances that an act may have, by name, and which of them are meant by which: without what tells them apart."""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Container

ANNOUNCED, REQUESTED, RUNNING, NEGATED = "announced", "requested", "running", "negated"
REPORTED, DONE_NOW, ASKED, SUPPOSED = "reported", "done", "asked", "supposed"
QUOTED, DRY_RUN = "quoted", "dry_run"
DENIALS = frozenset(("not", "never", "without", "no"))
# Stances that were told apart later: a trigger that lists the wider one means both.
WIDER = {RUNNING: ANNOUNCED, DONE_NOW: REPORTED, SUPPOSED: ASKED}
NARROWER = {wide: narrow for narrow, wide in WIDER.items()}


def counts(stance: str, listed: Container[str]) -> bool:
    """Say whether a trigger that lists some stances means this one: `announced` includes running, and so on."""
    return stance in listed or WIDER.get(stance) in listed


NEAR = 6  # words before the act that can colour it


class Act(Record):
    """An act in its sentence, as words."""

    before: tuple[str, ...]  # of the same clause
    verb: str
    after_verb: tuple[str, ...]  # to the end of the phrase
    opening: tuple[str, ...]  # the sentence up to and with the verb
    said: tuple[str, ...]  # the whole sentence
    question: bool
    following: tuple[str, ...] = ()  # what is said right after the phrase
    aside: bool = False  # in parentheses, with nothing before it there
    reach: int = 0  # characters from its clause's beginning to its verb
    mark: str = ""  # of punctuation, behind which its clause begins
    resolved: bool = False  # its clause begins where somebody says what he will do, in the middle of a sentence

    @property
    def near(self) -> tuple[str, ...]:
        """The words just before the act."""
        return self.before[-NEAR:]
